import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 6: cancelling before the start, while executing, twice and afterwards", .inTurns)
    struct CancellationRule {
        @Test("Before it is added: the body never runs")
        func beforeAdding() async throws {
            try await expectBoth(toSay: ["cancelled: true, finished: true, executing: false"]) { stage in
                let queue = stage.queue()
                let operation = stage.operation(.normal, .says("body"))
                operation.cancel()
                try queue.add(operation)
                try await queue.waitUntilAllAreFinished()
                stage.say(standing(operation))
            }
        }

        @Test("While it waits for its turn: the body never runs, and the next ones do")
        func beforeStart() async throws {
            let expected = ["first", "third", "cancelled: true, finished: true, executing: false"]
            try await expectBoth(toSay: expected) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                let second = stage.operation(.normal, .says("second"))
                try queue.add(stage.operation(.normal, .passes(gate), .says("first")))
                try queue.add(second)
                try queue.add(stage.operation(.normal, .says("third")))
                await gate.waitForArrivals(1)
                second.cancel()
                second.cancel()
                gate.open()
                try await queue.waitUntilAllAreFinished()
                stage.say(standing(second))
            }
        }

        @Test("While it executes: the body sees it, and decides")
        func whileExecuting() async throws {
            let expected = [
                "before: false", "cancelled: true, finished: false, executing: true", "after: true", "goes on",
                "cancelled: true, finished: true, executing: false",
            ]
            try await expectBoth(toSay: expected) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                let operation = stage.operation(
                    .normal, .looks { "before: \($0.isCancelled)" }, .passes(gate),
                    .looks { "after: \($0.isCancelled)" }, .says("goes on"))
                try queue.add(operation)
                await gate.waitForArrivals(1)
                operation.cancel()
                operation.cancel()
                stage.say(standing(operation))
                gate.open()
                try await queue.waitUntilAllAreFinished()
                stage.say(standing(operation))
            }
        }

        @Test("After the end: nothing changes")
        func afterEnd() async throws {
            try await expectBoth(toSay: ["body", "cancelled: false, finished: true, executing: false"]) { stage in
                let queue = stage.queue()
                let operation = stage.operation(.normal, .says("body"))
                try queue.add(operation)
                try await queue.waitUntilAllAreFinished()
                operation.cancel()
                stage.say(standing(operation))
            }
        }

        @Test("All of a queue: executing bodies see it, waiting ones never run, later ones do")
        func all() async throws {
            try await expectBoth(toSay: ["first, cancelled: true", "later, cancelled: false"]) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                try queue.add(stage.operation(.normal, .passes(gate), .looks { "first, cancelled: \($0.isCancelled)" }))
                try queue.add(stage.operation(.normal, .says("second")))
                await gate.waitForArrivals(1)
                queue.cancelAll()
                try queue.add(stage.operation(.normal, .looks { "later, cancelled: \($0.isCancelled)" }))
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        private func standing(_ operation: any OperationUnderTest) -> String {
            """
            cancelled: \(operation.isCancelled), finished: \(operation.isFinished), \
            executing: \(operation.isExecuting)
            """
        }
    }
}
