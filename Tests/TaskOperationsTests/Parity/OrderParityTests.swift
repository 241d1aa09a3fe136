import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 3: the higher priority starts first, and equal ones in the order of adding", .inTurns)
    struct OrderRule {
        @Test("All priorities, twice each, added to a suspended queue in a mixed order")
        func mixedPriorities() async throws {
            let expected = [
                "very high 1", "very high 2", "high 1", "high 2", "normal 1", "normal 2", "low 1", "low 2",
                "very low 1", "very low 2",
            ]
            try await expectBoth(toSay: expected) { stage in
                let queue = stage.queue(isSuspended: true)
                let added: [(Priority, String)] = [
                    (.low, "low 1"), (.normal, "normal 1"), (.veryHigh, "very high 1"), (.veryLow, "very low 1"),
                    (.high, "high 1"), (.high, "high 2"), (.veryHigh, "very high 2"), (.normal, "normal 2"),
                    (.veryLow, "very low 2"), (.low, "low 2"),
                ]
                for (priority, name) in added { try queue.add(stage.operation(priority, .says(name))) }
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("Equal priorities keep the order of adding, from any threads")
        func manyThreads() async throws {
            try await expectBoth(toSay: (0..<20).map { "\($0)" }) { stage in
                let queue = stage.queue(isSuspended: true)
                for number in 0..<20 {
                    let operation = stage.operation(.normal, .says("\(number)"))
                    await onThreadOfItsOwn { try! queue.add(operation) }
                }
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("One that became ready late has the place of its adding")
        func lateReadiness() async throws {
            try await expectBoth(toSay: ["first", "late", "second", "third"]) { stage in
                let (queue, elsewhere, gate) = (stage.queue(), stage.queue(isSuspended: true), Gate())
                let awaited = stage.operation()
                let late = stage.operation(.normal, .says("late"))
                try late.depend(on: awaited)
                try elsewhere.add(awaited)
                try queue.add(stage.operation(.normal, .says("first"), .passes(gate)))
                try queue.add(late)
                try queue.add(stage.operation(.normal, .says("second")))
                try queue.add(stage.operation(.normal, .says("third")))
                await gate.waitForArrivals(1)
                // A task that began to wait before the end continues after the dependent operations are ready.
                let end = Task.immediate { try await elsewhere.waitUntilAllAreFinished() }
                elsewhere.isSuspended = false
                try await end.value
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
