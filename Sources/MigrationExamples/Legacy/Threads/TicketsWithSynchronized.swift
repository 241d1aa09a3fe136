import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two sellers sell a ticket for each file, none twice.
    public static func ticketsWithSynchronized(_ input: RecipeInput) throws -> RecipeResult {
        // region: tickets-with-synchronized
        let booth = TicketBooth(tickets: input.files.map(\.name))
        let sellers = DispatchGroup()
        for _ in 0..<2 {
            sellers.enter()
            Thread.detachNewThread {
                while booth.sell() {}
                sellers.leave()
            }
        }
        sellers.wait()
        return RecipeResult(booth.report)
        // endregion
    }
}

// region: tickets-with-synchronized-booth
private final class TicketBooth: Synchronized, @unchecked Sendable {
    private var tickets: [String]
    private var sold: Set<String> = []

    init(tickets: [String]) {
        self.tickets = tickets
    }

    var isSoldOut: Bool { synchronized { tickets.isEmpty } }

    func sell() -> Bool {
        synchronized {
            if isSoldOut { return false }  // enters a second time
            sold.insert(tickets.removeLast())
            return true
        }
    }

    var report: String { synchronized { "\(sold.count) sold, \(tickets.count) left" } }
}

/// `@synchronized (self)`, or `objc_sync_enter(self)` and `objc_sync_exit(self)`, if there is no Objective-C.
private class Synchronized: @unchecked Sendable {
    private let lock = NSRecursiveLock()

    func synchronized<Value>(_ body: () throws -> Value) rethrows -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
// endregion
