public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Two sellers check for the last ticket before either sells it, and both sell it: an actor alone does not prevent
    /// this.
    public static func unlockedTickets(_ input: RecipeInput) async throws -> RecipeResult {
        // region: unlocked-tickets
        let booth = TicketBooth(tickets: 1)
        let haveLooked = AsyncGroup()
        for _ in 0..<2 { haveLooked.enter() }
        await withDiscardingTaskGroup { sellers in
            for _ in 0..<2 {
                sellers.addTask {
                    let isAvailable = await booth.tickets > 0
                    haveLooked.leave()
                    await haveLooked.wait()  // the other seller looks
                    if isAvailable { await booth.sell() }
                }
            }
        }
        return RecipeResult("1 ticket for \(input.files.count) files, \(1 - (await booth.tickets)) sold")
        // endregion
    }
}

// region: unlocked-tickets-booth
/// No two tasks are in here at once, but between two calls of one there may be calls of another.
private actor TicketBooth {
    private(set) var tickets: Int

    init(tickets: Int) {
        self.tickets = tickets
    }

    func sell() {
        tickets -= 1
    }
}
// endregion
