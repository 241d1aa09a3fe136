import Dispatch
import Foundation
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

// Each test uses a different signal, because signals apply to the whole process.

@Suite("Signals as sequences", .inTurns)
struct DispatchSignalTests {
    @Test("a signal after the creation of the sequence is delivered, and does not end the process")
    func delivered() async {
        let signals = await DispatchSource.signalEvents(signal: SIGUSR1)
        var iterator = signals.makeAsyncIterator()
        for _ in 0..<3 {
            kill(getpid(), SIGUSR1)
            #expect(await iterator.next() == SIGUSR1)
        }
    }

    @Test("a signal resumes the waiting task")
    func wakes() async {
        let signals = await DispatchSource.signalEvents(signal: SIGUSR2)
        let waiting = Task.immediate {
            for await signal in signals { return signal }
            return 0
        }
        kill(getpid(), SIGUSR2)
        #expect(await waiting.value == SIGUSR2)
    }

    @Test("signals that come again before they are taken are delivered once")
    func merged() async {
        let signals = await DispatchSource.signalEvents(signal: SIGWINCH)
        let counted = ConcurrencyMeter()
        let counting = Task {
            for await _ in signals { counted.enter() }
        }
        for _ in 0..<100 { kill(getpid(), SIGWINCH) }
        await until { counted.total > 0 }
        counting.cancel()
        await counting.value
        #expect((1...101).contains(counted.total))
    }

    @Test("two sequences for one signal both get it")
    func two() async {
        let first = await DispatchSource.signalEvents(signal: SIGALRM)
        let second = await DispatchSource.signalEvents(signal: SIGALRM)
        kill(getpid(), SIGALRM)
        for signals in [first, second] {
            var iterator = signals.makeAsyncIterator()
            #expect(await iterator.next() == SIGALRM)
        }
    }

    @Test("a number that is not a signal's stops the process with a message", .prompt)
    func noSignal() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = await DispatchSource.signalEvents(signal: 999)
        }
        #expect(message(of: result).contains("There is no signal 999 that a process can catch."))
    }

    @Test("cancelling the task ends the iteration")
    func cancellation() async {
        let signals = await DispatchSource.signalEvents(signal: SIGHUP)
        let waiting = Task.immediate {
            for await _ in signals { return "signal" }
            return "ended"
        }
        waiting.cancel()
        #expect(await waiting.value == "ended")
    }
}
