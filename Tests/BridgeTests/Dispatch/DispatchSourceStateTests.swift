import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("The state of a sequence of Dispatch events", .inTurns)
struct DispatchSourceStateTests {
    private typealias State = SourceState<Int, String>

    /// A state, and a source that executes its commands. The commands to resume and suspend must alternate.
    private struct Driven {
        var state: State
        var isResumed: Bool
        var received: [String: Int?] = [:]
        var held: [Int] = []

        init(isResumed: Bool) {
            state = State(isResumed: isResumed)
            self.isResumed = isResumed
        }

        mutating func obey(_ command: State.Command?) {
            switch command {
            case .resume:
                #expect(!isResumed)
                isResumed = true
            case .suspend:
                #expect(isResumed)
                isResumed = false
            case nil: break
            }
            #expect(state.isResumed == isResumed)
        }

        mutating func wait(_ name: String) {
            switch state.wait(name) {
            case .waits(let command): obey(command)
            case .has(let event): received[name] = .some(event)
            }
        }

        mutating func fire(_ event: Int) {
            let (receiver, command) = state.fire(event)
            if let receiver { received[receiver] = .some(event) }
            obey(command)
        }

        mutating func finish() {
            let (waiters, command) = state.finish()
            for waiter in waiters { received[waiter] = .some(nil) }
            obey(command)
        }
    }

    @Test("the source is resumed only while a task waits")
    func resumedWhileWaiting() {
        var driven = Driven(isResumed: false)
        driven.wait("a")
        driven.wait("b")
        #expect(driven.isResumed)
        driven.fire(1)
        #expect(driven.isResumed)
        driven.fire(2)
        #expect(!driven.isResumed)
        #expect(driven.received == ["a": 1, "b": 2])
    }

    @Test("an event without a waiting task is held, and the source is suspended")
    func held() {
        var driven = Driven(isResumed: true)
        driven.fire(1)
        #expect(!driven.isResumed)
        driven.wait("a")
        #expect(driven.received == ["a": 1])
        #expect(!driven.isResumed)
    }

    @Test("the end reaches all waiting and later tasks, and leaves the source resumed")
    func end() {
        var driven = Driven(isResumed: false)
        driven.wait("a")
        driven.finish()
        driven.finish()
        driven.fire(1)
        driven.wait("b")
        #expect(driven.received == ["a": nil, "b": nil])
        #expect(driven.isResumed)
    }

    @Test("every sequence of six events keeps the source's commands alternating and gives each event once")
    func exhaustive() {
        for isResumed in [false, true] {
            for code in 0..<729 {
                var driven = Driven(isResumed: isResumed)
                var fired: [Int] = []
                var waits = 0
                var rest = code
                for step in 0..<6 {
                    switch rest % 3 {
                    case 0:
                        driven.wait("\(step)")
                        waits += 1
                    case 1 where driven.isResumed && !driven.state.isFinished:
                        // Dispatch calls the handler of a source only if the source is resumed.
                        driven.fire(step)
                        fired.append(step)
                    default: driven.finish()
                    }
                    rest /= 3
                }
                let received = driven.received.values.compactMap(\.self)
                #expect(Set(received).count == received.count)
                #expect(fired.count - received.count <= 1)
                #expect(driven.received.count <= waits)
                if driven.state.isFinished { #expect(driven.received.count == waits && driven.isResumed) }
            }
        }
    }
}
