import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 20: the current queue can be asked for inside a body", .inTurns)
    struct CurrentOperationRule {
        @Test("It is the queue of the operation, and there is none outside")
        func currentQueue() async throws {
            try await expectBoth(toSay: ["outside: none", "in images", "in texts", "outside: none"]) { stage in
                stage.say("outside: \(stage.currentQueueName ?? "none")")
                for name in ["images", "texts"] {
                    let queue = stage.queue(name)
                    try queue.add(stage.operation(.normal, .looks { "in \($0.queueName ?? "none")" }))
                    try await queue.waitUntilAllAreFinished()
                }
                stage.say("outside: \(stage.currentQueueName ?? "none")")
            }
        }

        @Test("In a barrier too")
        func inBarrier() async throws {
            try await expectBoth(toSay: ["first", "in images"]) { stage in
                let queue = stage.queue("images", isSuspended: true)
                try queue.add(stage.operation(.normal, .says("first")))
                queue.addBarrier(.looks { "in \($0.queueName ?? "none")" })
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
