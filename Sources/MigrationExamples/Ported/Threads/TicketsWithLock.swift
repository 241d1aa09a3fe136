public import MigrationExamplesSupport

extension Ported {
    /// Two sellers sell a ticket for each file. No ticket is sold twice.
    public static func ticketsWithLock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: tickets-with-lock
        let booth = TicketBooth(tickets: input.files.map(\.name))
        let sold = Journal()
        await withDiscardingTaskGroup { sellers in
            for _ in 0..<2 {
                sellers.addTask {
                    while let ticket = await booth.sell() { sold.write(ticket) }
                }
            }
        }
        return RecipeResult("\(sold.lines.count) sold, \(Set(sold.lines).count) of them different")
        // endregion
    }
}

// region: tickets-with-lock-booth
private actor TicketBooth {
    private var tickets: [String]

    init(tickets: [String]) {
        self.tickets = tickets
    }

    func sell() -> String? {
        tickets.popLast()
    }
}
// endregion
