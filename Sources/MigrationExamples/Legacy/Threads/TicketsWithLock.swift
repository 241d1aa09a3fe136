import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two sellers sell a ticket for each file, none twice.
    public static func ticketsWithLock(_ input: RecipeInput) throws -> RecipeResult {
        // region: tickets-with-lock
        let booth = TicketBooth(tickets: input.files.map(\.name))
        let sold = Journal()
        let sellers = DispatchGroup()
        for _ in 0..<2 {
            sellers.enter()
            Thread.detachNewThread {
                while let ticket = booth.sell() { sold.write(ticket) }
                sellers.leave()
            }
        }
        sellers.wait()
        return RecipeResult("\(sold.lines.count) sold, \(Set(sold.lines).count) of them different")
        // endregion
    }
}

// region: tickets-with-lock-booth
private final class TicketBooth: @unchecked Sendable {
    private let lock = NSLock()
    private var tickets: [String]

    init(tickets: [String]) {
        self.tickets = tickets
    }

    func sell() -> String? {
        lock.lock()
        defer { lock.unlock() }
        return tickets.popLast()
    }
}
// endregion
