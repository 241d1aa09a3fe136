import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two sellers look for the last ticket before either sells it, and both do.
    public static func unlockedTickets(_ input: RecipeInput) throws -> RecipeResult {
        // region: unlocked-tickets
        let booth = TicketBooth(tickets: 1)
        let haveLooked = DispatchGroup()
        let haveSold = DispatchGroup()
        for _ in 0..<2 { haveLooked.enter() }
        for _ in 0..<2 {
            haveSold.enter()
            Thread.detachNewThread {
                let isAvailable = booth.tickets > 0
                haveLooked.leave()
                haveLooked.wait()  // the other seller looks: by bad luck elsewhere, always here
                if isAvailable { booth.sell() }
                haveSold.leave()
            }
        }
        haveSold.wait()
        return RecipeResult("1 ticket for \(input.files.count) files, \(1 - booth.tickets) sold")
        // endregion
    }
}

// region: unlocked-tickets-booth
/// Each access has the lock, but a check and the sale that rests on it are two.
private final class TicketBooth: @unchecked Sendable {
    private let lock = NSLock()
    private var left: Int

    init(tickets: Int) {
        left = tickets
    }

    var tickets: Int { lock.withLock { left } }

    func sell() {
        lock.withLock { left -= 1 }
    }
}
// endregion
