import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 2: no more bodies execute at once than the width", .inTurns)
    struct WidthRule {
        @Test("As many execute as the width says, and no more")
        func widthIsKept() async throws {
            try await expectBoth(toSay: ["most 2, in all 10"]) { stage in
                let (queue, meter, gate) = (stage.queue(width: 2), ConcurrencyMeter(), Gate())
                for _ in 0..<10 {
                    try queue.add(
                        stage.operation(
                            .normal, .does { meter.enter() }, .passes(gate), .does { meter.leave() }))
                }
                await gate.waitForArrivals(2)
                try await stage.letTimePass()
                gate.open()
                try await queue.waitUntilAllAreFinished()
                stage.say("most \(meter.most), in all \(meter.total)")
            }
        }

        @Test("Raising the width starts work at once")
        func raising() async throws {
            try await expectBoth(toSay: ["first starts", "second starts", "first executes: true"]) { stage in
                let (queue, first, second) = (stage.queue(width: 1), Gate(), Gate())
                let operation = stage.operation(.normal, .says("first starts"), .passes(first))
                try queue.add(operation)
                try queue.add(stage.operation(.normal, .says("second starts"), .passes(second)))
                await first.waitForArrivals(1)
                queue.width = 2
                await second.waitForArrivals(1)
                stage.say("first executes: \(operation.isExecuting)")
                first.open()
                second.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("Lowering the width stops nothing, and holds the next back until it is kept again")
        func lowering() async throws {
            let expected = ["both execute: true", "first ends", "second ends", "third starts"]
            try await expectBoth(toSay: expected) { stage in
                let (queue, first, second) = (stage.queue(width: 2), Gate(), Gate())
                let operations = [
                    stage.operation(.normal, .passes(first), .says("first ends")),
                    stage.operation(.normal, .passes(second), .says("second ends")),
                    stage.operation(.normal, .says("third starts")),
                ]
                try queue.add(operations)
                await first.waitForArrivals(1)
                await second.waitForArrivals(1)
                queue.width = 1
                stage.say("both execute: \(operations[0].isExecuting && operations[1].isExecuting)")
                first.open()
                try await operations[0].waitForEnd()
                try await stage.letTimePass()
                second.open()
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
