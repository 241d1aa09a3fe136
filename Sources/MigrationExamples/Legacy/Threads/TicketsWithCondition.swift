import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two sellers wait for tickets that are delivered one by one.
    public static func ticketsWithCondition(_ input: RecipeInput) throws -> RecipeResult {
        // region: tickets-with-condition
        let booth = TicketBooth()
        let sold = Journal()
        let sellers = DispatchGroup()
        for _ in 0..<2 {
            sellers.enter()
            Thread.detachNewThread {
                while let ticket = booth.next() { sold.write(ticket) }
                sellers.leave()
            }
        }
        for file in input.files { booth.deliver(file.name) }
        booth.close()
        sellers.wait()
        return RecipeResult("\(sold.lines.count) sold, \(Set(sold.lines).count) of them different")
        // endregion
    }
}

// region: tickets-with-condition-booth
private final class TicketBooth: @unchecked Sendable {
    private let condition = NSCondition()
    private var tickets: [String] = []
    private var isClosed = false

    func deliver(_ ticket: String) {
        condition.lock()
        tickets.append(ticket)
        condition.signal()
        condition.unlock()
    }

    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks until there is a ticket. Returns nil when there will be none.
    func next() -> String? {
        condition.lock()
        defer { condition.unlock() }
        while tickets.isEmpty && !isClosed { condition.wait() }
        return tickets.popLast()
    }
}
// endregion
