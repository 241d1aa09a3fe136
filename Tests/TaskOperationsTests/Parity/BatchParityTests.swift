import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 4: several operations are added in one step", .inTurns)
    struct BatchRule {
        @Test("The most urgent of a batch starts first on an idle queue, at any position")
        func batch() async throws {
            try await expectBoth(toSay: ["very high", "high", "normal", "low", "very low"]) { stage in
                let queue = stage.queue()
                try queue.add([
                    stage.operation(.low, .says("low")),
                    stage.operation(.normal, .says("normal")),
                    stage.operation(.veryLow, .says("very low")),
                    stage.operation(.veryHigh, .says("very high")),
                    stage.operation(.high, .says("high")),
                ])
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("One by one, the first starts at once, and the rest by their priorities")
        func oneByOne() async throws {
            try await expectBoth(toSay: ["low", "high", "normal"]) { stage in
                let (queue, gate) = (stage.queue(), Gate())
                try queue.add(stage.operation(.low, .says("low"), .passes(gate)))
                await gate.waitForArrivals(1)
                try queue.add(stage.operation(.normal, .says("normal")))
                try queue.add(stage.operation(.high, .says("high")))
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
