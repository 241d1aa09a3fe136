import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 9: a barrier starts after all before it, runs alone, and holds back all after it", .inTurns)
    struct BarrierRule {
        @Test("A barrier starts after those before it and before those after it, for all priorities")
        func order() async throws {
            let expected = ["first ends", "second ends", "barrier", "high after", "low after"]
            try await expectBoth(toSay: expected) { stage in
                let (queue, first, second) = (stage.queue(width: 2), Gate(), Gate())
                let opening = stage.operation(.low, .passes(first), .says("first ends"))
                try queue.add(opening)
                try queue.add(stage.operation(.low, .passes(second), .says("second ends")))
                queue.addBarrier(.says("barrier"))
                let high = stage.operation(.veryHigh, .says("high after"))
                let low = stage.operation(.veryLow, .says("low after"))
                try low.depend(on: high)
                try queue.add([low, high])
                await first.waitForArrivals(1)
                await second.waitForArrivals(1)
                first.open()
                try await opening.waitForEnd()
                try await stage.letTimePass()
                second.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("It runs alone, though there is room")
        func alone() async throws {
            let expected = [
                "before", "barrier starts", "after: finished false, executing false", "barrier ends", "after",
            ]
            try await expectBoth(toSay: expected) { stage in
                let (queue, first, gate) = (stage.queue(width: 4), Gate(), Gate())
                try queue.add(stage.operation(.normal, .passes(first), .says("before")))
                queue.addBarrier(.says("barrier starts"), .passes(gate), .says("barrier ends"))
                let after = stage.operation(.veryHigh, .says("after"))
                try queue.add(after)
                first.open()
                await gate.waitForArrivals(1)
                try await stage.letTimePass()
                stage.say("after: finished \(after.isFinished), executing \(after.isExecuting)")
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("One after the other, with work between")
        func several() async throws {
            try await expectBoth(toSay: ["1", "barrier 1", "2", "barrier 2", "barrier 3", "3"]) { stage in
                let (queue, gate) = (stage.queue(width: 4), Gate())
                try queue.add(stage.operation(.normal, .passes(gate), .says("1")))
                queue.addBarrier(.says("barrier 1"))
                try queue.add(stage.operation(.normal, .says("2")))
                queue.addBarrier(.says("barrier 2"))
                queue.addBarrier(.says("barrier 3"))
                try queue.add(stage.operation(.normal, .says("3")))
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("A cancelled operation before a barrier does not delay it, one that waits for a dependency does")
        func cancelledAndWaiting() async throws {
            try await expectBoth(toSay: ["dependency", "dependent", "barrier"]) { stage in
                let (queue, elsewhere) = (stage.queue(isSuspended: true), stage.queue(isSuspended: true))
                let dependency = stage.operation(.normal, .says("dependency"))
                let dependent = stage.operation(.normal, .says("dependent"))
                let cancelled = stage.operation(.normal, .says("cancelled"))
                try dependent.depend(on: dependency)
                try elsewhere.add(dependency)
                try queue.add([cancelled, dependent])
                queue.addBarrier(.says("barrier"))
                cancelled.cancel()
                queue.isSuspended = false
                try await cancelled.waitForEnd()
                try await stage.letTimePass()
                elsewhere.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
