import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 1: every operation ends, and its body runs at most once", .inTurns)
    struct OutcomeRule {
        @Test("Of a hundred operations each runs once and is finished")
        func eachRunsOnce() async throws {
            try await expectBoth(toSay: ["100 finished", "100 bodies, 100 different ones"]) { stage in
                let bodies = Stage(stage.side)
                let queue = stage.queue(width: 4)
                let operations = (0..<100).map { number in
                    stage.operation(.normal, .does { bodies.say("\(number)") })
                }
                for operation in operations { try queue.add(operation) }
                try await queue.waitUntilAllAreFinished()
                stage.say("\(operations.count(where: \.isFinished)) finished")
                stage.say("\(bodies.said.count) bodies, \(Set(bodies.said).count) different ones")
            }
        }

        @Test("Those that are cancelled before they start end as well, and their bodies do not run")
        func cancelledOnesEnd() async throws {
            let expected = ["body 0", "body 2", "body 4", "5 finished", "2 cancelled", "none executes"]
            try await expectBoth(toSay: expected) { stage in
                let queue = stage.queue(isSuspended: true)
                let operations = (0..<5).map { stage.operation(.normal, .says("body \($0)")) }
                try queue.add(operations)
                operations[1].cancel()
                operations[3].cancel()
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
                stage.say("\(operations.count(where: \.isFinished)) finished")
                stage.say("\(operations.count(where: \.isCancelled)) cancelled")
                stage.say(operations.contains(where: \.isExecuting) ? "one executes" : "none executes")
            }
        }
    }
}
