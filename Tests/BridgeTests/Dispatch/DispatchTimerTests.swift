import Dispatch
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Timers as sequences", .inTurns)
struct DispatchTimerTests {
    @Test("ticks are numbered without a gap, and none is delivered before its deadline")
    func regular() async {
        let start = DispatchTime.now()
        var last = -1
        for await tick in DispatchSource.timerEvents(deadline: start, repeating: .milliseconds(2)) {
            #expect(tick.index == last + tick.count)
            #expect(tick.count >= 1)
            #expect(tick.deadline == start + .milliseconds(2 * tick.index))
            #expect(DispatchTime.now() >= tick.deadline)
            last = tick.index
            if tick.index >= 20 { break }
        }
        #expect(last >= 20)
    }

    @Test("deadlines that pass during slow work become one tick, and the ticks do not drift")
    func slowWork() async {
        let start = DispatchTime.now()
        let interval = 1_000_000
        var ticks = DispatchSource.timerEvents(deadline: start, repeating: .nanoseconds(interval)).makeAsyncIterator()
        for round in 1...5 {
            while DispatchTime.now() < start + .milliseconds(10 * round) { await Task.yield() }
            // All deadlines up to now have passed, so the next tick reports all of them.
            let passed = Int(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / interval
            var tick = await ticks.next()
            // Dispatch may have counted one more deadline before the timer was suspended, and then reports it first.
            if let first = tick, first.index < passed { tick = await ticks.next() }
            #expect(tick.map { $0.index >= passed } == true)
        }
    }

    @Test("a timer without an interval ticks once")
    func once() async {
        let start = DispatchTime.now()
        var ticks: [DispatchTimerTick] = []
        for await tick in DispatchSource.timerEvents(deadline: start + .milliseconds(5)) { ticks.append(tick) }
        #expect(ticks == [DispatchTimerTick(index: 0, count: 1, deadline: start + .milliseconds(5))])
        #expect(DispatchTime.now() >= start + .milliseconds(5))
    }

    @Test("an interval too long to be counted in nanoseconds is as good as none")
    func endlessInterval() async {
        var ticks = DispatchSource.timerEvents(deadline: .now(), repeating: .seconds(.max)).makeAsyncIterator()
        #expect(await ticks.next()?.index == 0)
    }

    @Test("cancelling the task ends the iteration, while it waits and before")
    func cancellation() async {
        let ticks = DispatchSource.timerEvents(deadline: .distantFuture, repeating: .seconds(1))
        let waiting = Task.immediate {
            for await _ in ticks { return "ticked" }
            return "ended"
        }
        waiting.cancel()
        #expect(await waiting.value == "ended")
        var iterator = DispatchSource.timerEvents(deadline: .now(), repeating: .seconds(1)).makeAsyncIterator()
        let cancelled = Task.immediate { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = DispatchSource.timerEvents(deadline: .distantFuture).makeAsyncIterator()
            return await iterator.next() == nil
        }
        #expect(await cancelled.value)
        #expect(await iterator.next() != nil)
    }

    @Test("leaving the loop ends the timer, also for another iteration of the same sequence")
    func leaving() async {
        let ticks = DispatchSource.timerEvents(deadline: .now(), repeating: .milliseconds(1))
        for await _ in ticks { break }
        var again = 0
        for await _ in ticks { again += 1 }
        #expect(again <= 1)
    }

    @Test("a sequence without an iteration can be released")
    func unused() {
        for _ in 0..<100 { _ = DispatchSource.timerEvents(deadline: .now(), repeating: .milliseconds(1)) }
    }

    @Test("an interval of nothing stops the process with a message", .prompt)
    func noInterval() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DispatchSource.timerEvents(deadline: .now(), repeating: .nanoseconds(0))
        }
        #expect(message(of: result).contains("must be at least a nanosecond"))
    }
}
