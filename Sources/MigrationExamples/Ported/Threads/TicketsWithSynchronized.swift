public import MigrationExamplesSupport
import Synchronization

extension Ported {
    /// Two sellers sell a ticket for each file. No ticket is sold twice.
    public static func ticketsWithSynchronized(_ input: RecipeInput) async throws -> RecipeResult {
        // region: tickets-with-synchronized
        let booth = TicketBooth(tickets: input.files.map(\.name))
        await withDiscardingTaskGroup { sellers in
            for _ in 0..<2 {
                sellers.addTask { while booth.sell() {} }
            }
        }
        return RecipeResult(booth.report)
        // endregion
    }
}

// region: tickets-with-synchronized-booth
private final class TicketBooth: Sendable {
    /// The state that the lock guards. Its members call each other without a lock.
    private struct Stock {
        var tickets: [String]
        var sold: Set<String> = []

        var isSoldOut: Bool { tickets.isEmpty }

        mutating func sell() -> Bool {
            if isSoldOut { return false }
            sold.insert(tickets.removeLast())
            return true
        }
    }

    private let stock: Mutex<Stock>

    init(tickets: [String]) {
        stock = Mutex(Stock(tickets: tickets))
    }

    func sell() -> Bool { stock.withLock { $0.sell() } }

    var report: String { stock.withLock { "\($0.sold.count) sold, \($0.tickets.count) left" } }
}
// endregion
