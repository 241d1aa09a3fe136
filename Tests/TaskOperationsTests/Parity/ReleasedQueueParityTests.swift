import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 10: a released queue finishes its operations, and is deallocated then", .inTurns)
    struct ReleasedQueueRule {
        private struct Held {
            weak var queue: (any AnyObject & Sendable)?

            /// Returns after the object was deallocated. Only the timeout of the suite limits the wait.
            func waitUntilDeallocated() async {
                while queue != nil { await Task.yield() }
            }
        }

        @Test("With operations pending")
        func pending() async throws {
            try await expectBoth(toSay: ["first", "second", "third", "deallocated"]) { stage in
                let gate = Gate()
                let last = stage.operation(.normal, .says("third"))
                let held = try {
                    let queue = stage.queue()
                    try queue.add(stage.operation(.normal, .passes(gate), .says("first")))
                    try queue.add(stage.operation(.normal, .says("second")))
                    try queue.add(last)
                    return Held(queue: queue.underlying)
                }()
                await gate.waitForArrivals(1)
                gate.open()
                try await last.waitForEnd()
                await held.waitUntilDeallocated()
                stage.say("deallocated")
            }
        }

        @Test("When it has run dry, and when it never had anything")
        func empty() async throws {
            try await expectBoth(toSay: ["body", "deallocated", "deallocated"]) { stage in
                let used = try await {
                    let queue = stage.queue()
                    try queue.add(stage.operation(.normal, .says("body")))
                    try await queue.waitUntilAllAreFinished()
                    return Held(queue: queue.underlying)
                }()
                let unused = Held(queue: stage.queue().underlying)
                for held in [used, unused] {
                    await held.waitUntilDeallocated()
                    stage.say("deallocated")
                }
            }
        }
    }
}
