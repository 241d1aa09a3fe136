import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 17: completion handlers run once, after the end", .inTurns)
    struct CompletionHandlerRule {
        @Test("After an end by itself, when the operation is finished")
        func completed() async throws {
            let expected = ["body", "completed, finished: true, cancelled: false", "1 call"]
            try await expectBoth(toSay: expected) { stage in
                try await play(stage) { queue, operation in try queue.add(operation) }
            }
        }

        @Test("After a cancellation before the start")
        func cancelled() async throws {
            try await expectBoth(toSay: ["completed, finished: true, cancelled: true", "1 call"]) { stage in
                try await play(stage) { queue, operation in
                    operation.cancel()
                    try queue.add(operation)
                }
            }
        }

        @Test("After an end by an error")
        func failed() async throws {
            let expected = ["body", "completed, finished: true, cancelled: false", "1 call"]
            try await expectBoth(toSay: expected) { stage in
                try await play(stage, .fails) { queue, operation in try queue.add(operation) }
            }
        }

        private func play(
            _ stage: Stage, _ step: Step = .does {},
            adding add: (any QueueUnderTest, any OperationUnderTest) throws -> Void
        ) async throws {
            let (queue, gate, calls) = (stage.queue(), Gate(), ConcurrencyMeter())
            let operation = stage.operation(.normal, .says("body"), step)
            operation.onCompletion { [weak operation] in
                calls.enter()
                let standing = operation.map { "finished: \($0.isFinished), cancelled: \($0.isCancelled)" }
                stage.say("completed, \(standing ?? "freed")")
                gate.open()
            }
            try add(queue, operation)
            try await queue.waitUntilAllAreFinished()
            await gate.pass()
            operation.cancel()
            try await stage.letTimePass()
            stage.say("\(calls.total) call")
        }
    }
}
