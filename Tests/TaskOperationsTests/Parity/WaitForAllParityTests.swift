import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 11: waiting for all returns when the queue is empty", .inTurns)
    struct WaitForAllRule {
        @Test("At once on an empty queue")
        func empty() async throws {
            try await expectBoth(toSay: ["0 left"]) { stage in
                let queue = stage.queue()
                try await queue.waitUntilAllAreFinished()
                stage.say("\(queue.operationCount) left")
            }
        }

        @Test("After all are finished, with none left")
        func all() async throws {
            try await expectBoth(toSay: ["3 left", "1", "2", "3", "0 left, all finished: true"]) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                let operations = (1...3).map { stage.operation(.normal, .passes(gate), .says("\($0)")) }
                try queue.add(operations)
                await gate.waitForArrivals(1)
                stage.say("\(queue.operationCount) left")
                gate.open()
                try await queue.waitUntilAllAreFinished()
                stage.say("\(queue.operationCount) left, all finished: \(operations.allSatisfy(\.isFinished))")
            }
        }

        @Test("The wait includes operations that are added meanwhile")
        func addedMeanwhile() async throws {
            try await expectBoth(toSay: ["first", "added", "added by that", "0 left"]) { stage in
                let queue = stage.queue()
                let addedLast = stage.operation(.normal, .says("added by that"))
                let added = stage.operation(.normal, .says("added"), .does { try queue.add(addedLast) })
                try queue.add(stage.operation(.normal, .says("first"), .does { try queue.add(added) }))
                try await queue.waitUntilAllAreFinished()
                stage.say("\(queue.operationCount) left")
            }
        }
    }
}
