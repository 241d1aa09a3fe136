import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 8: a suspended queue starts nothing", .inTurns)
    struct SuspensionRule {
        @Test("Operations of a suspended queue wait, and start in order when it is resumed")
        func suspendedFromTheStart() async throws {
            let expected = ["suspended: true, 3 operations", "high", "first", "second", "suspended: false"]
            try await expectBoth(toSay: expected) { stage in
                let queue = stage.queue(isSuspended: true)
                try queue.add(stage.operation(.normal, .says("first")))
                try queue.add(stage.operation(.normal, .says("second")))
                try queue.add(stage.operation(.high, .says("high")))
                try await stage.letTimePass()
                stage.say("suspended: \(queue.isSuspended), \(queue.operationCount) operations")
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
                stage.say("suspended: \(queue.isSuspended)")
            }
        }

        @Test("Executing operations continue, and no other starts after them")
        func suspendedMeanwhile() async throws {
            let expected = ["first ends", "second: ready true, executing false", "second", "third"]
            try await expectBoth(toSay: expected) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                let first = stage.operation(.normal, .passes(gate), .says("first ends"))
                let second = stage.operation(.normal, .says("second"))
                try queue.add([first, second, stage.operation(.normal, .says("third"))])
                await gate.waitForArrivals(1)
                queue.isSuspended = true
                gate.open()
                try await first.waitForEnd()
                try await stage.letTimePass()
                stage.say("second: ready \(second.isReady), executing \(second.isExecuting)")
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
