public import MigrationExamplesSupport

extension Ported {
    /// Two sellers wait for tickets that are delivered one by one.
    public static func ticketsWithCondition(_ input: RecipeInput) async throws -> RecipeResult {
        // region: tickets-with-condition
        let booth = TicketBooth()
        let sold = Journal()
        await withDiscardingTaskGroup { sellers in
            for _ in 0..<2 {
                sellers.addTask {
                    while let ticket = await booth.next() { sold.write(ticket) }
                }
            }
            for file in input.files { await booth.deliver(file.name) }
            await booth.close()
        }
        return RecipeResult("\(sold.lines.count) sold, \(Set(sold.lines).count) of them different")
        // endregion
    }
}

// region: tickets-with-condition-booth
private actor TicketBooth {
    private var tickets: [String] = []
    private var isClosed = false
    private var waiting: [CheckedContinuation<String?, Never>] = []

    func deliver(_ ticket: String) {
        if let seller = waiting.popLast() {
            seller.resume(returning: ticket)
        } else {
            tickets.append(ticket)
        }
    }

    func close() {
        isClosed = true
        for seller in waiting { seller.resume(returning: nil) }
        waiting = []
    }

    /// Waits until there is a ticket. Returns nil when there will be none.
    func next() async -> String? {
        if let ticket = tickets.popLast() { return ticket }
        if isClosed { return nil }
        return await withCheckedContinuation { waiting.append($0) }
    }
}
// endregion
