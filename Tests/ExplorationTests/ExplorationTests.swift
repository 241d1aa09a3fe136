import Exploration
import ExploredTaskOperations
import Testing

@Suite("Exploration")
struct FirstTests {
    @Test func crash() async throws {
        let program = ExploredProgram("refused add / end of its dependency") { schedule in
            let queue = TaskOperationQueue(name: "q", maxConcurrentOperationCount: 2)
            let zero = TaskOperation(name: "zero") {}
            let two = TaskOperation(name: "two", dependencies: [zero]) {}
            let three = TaskOperation(name: "three") { _ = try? await two.value }
            try? queue.addOperation(three)
            schedule.runToEnd()
            schedule.thread("adder") {
                try? queue.addOperation(zero)
                try? queue.addBarrier {}
                do { try queue.addOperation(two) } catch {}
                two.cancel()
            }
            schedule.runToEnd()
            for operation in [zero, two, three] { schedule.expect(operation.isFinished, "\(operation) is not finished: \(operation.waitingExplanation)") }
        }
        print(program.explore(.exhaustive(preemptions: 1)))
        print(program.explore(.exhaustive(preemptions: 2)))
        print(program.explore(.priorities(seeds: 0..<10000, depth: 3)))
        print(program.explore(.uniform(seeds: 0..<10000)))
    }
}
