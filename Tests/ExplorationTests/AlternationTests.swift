import Exploration
import Testing

@testable import TaskOperations

@Suite("Threads that alternate", .serialized)
struct AlternationTests {
    /// One thread adds an operation that needs a permit of a queue. The other thread inserts a wait of the permit for
    /// something that waits for the operation. Each thread lowers the rank that the other thread needs to be high.
    private static let program = {
        var program = ExploredProgram("need of a permit / keeping of the permit") { schedule in
            let queue = TaskOperationQueue()
            let needed = TaskOperation(name: "needed") {}
            let keeper = TaskOperation(name: "keeper", dependencies: [needed]) {}
            let permit = queue.scheduler.permit!
            schedule.thread("adder") { try? queue.addOperation(needed) }
            schedule.thread("keeper") {
                _ = WaitOrder.insert(from: .permit(permit), to: [.operation(keeper)]) {
                    keeper.rank.value < permit.rank.value
                }
            }
            schedule.runToEnd()
            schedule.expectEnd(of: needed)
            keeper.cancel()
        }
        program.stepLimit = 400
        return program
    }()

    @Test("two threads that undo each other's searches of the wait graph come to an end, however they alternate")
    func alternation() async {
        let failure = await onOwnThread {
            Choices.alternating.lazy.compactMap { Self.program.explore(.replay($0), shrinks: false).failure }.first
        }
        if let failure { Issue.record("\(failure)") }
    }
}

extension Choices {
    /// Schedules of two threads, each of which takes a fixed number of steps in its turn.
    fileprivate static var alternating: [Choices] {
        let (starts, leads, firsts, seconds) =
            Amount.isDeep ? (0...3, 0...31, 1...32, 1...12) : (1...1, 8...23, 12...27, 6...12)
        return starts.flatMap { start in
            leads.flatMap { lead in
                firsts.flatMap { first in seconds.map { alternating(from: start, lead, first, $0) } }
            }
        }
    }

    /// After `lead` steps of the second thread, the first thread takes `second` steps and the second thread `first`
    /// steps, in turns.
    private static func alternating(from start: Int, _ lead: Int, _ first: Int, _ second: Int) -> Choices {
        let rounds = stride(from: start + lead, to: 400, by: first + second)
        return Choices("\(start):1," + rounds.map { "\($0):1,\($0 + second):1" }.joined(separator: ","))!
    }
}
