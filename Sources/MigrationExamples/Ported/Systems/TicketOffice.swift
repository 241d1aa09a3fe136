public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Two sellers sell a ticket for each file. A careless office sells its last ticket twice.
    public static func ticketOffice(_ input: RecipeInput) async throws -> RecipeResult {
        let office = TicketOffice(stock: input.files)
        try await withTaskOperationQueue(name: "sellers", maxConcurrentOperationCount: 2) { queue in
            for name in ["east", "west"] {
                queue.addOperation(name: name) {
                    while !Task.isCancelled, let ticket = await office.sell() {
                        let print = Result { SHA256.digest(of: try ticket.contents(upTo: ticketSize)) }
                        await office.handOver(ticket, print)
                    }
                }
            }
        }
        try Task.checkCancellation()
        return await office.report.adding(["without care \(CarelessOffice.soldOfOne()) of 1"])
    }
}

// region: ticket-office
/// The state that both sellers share. Taking a ticket is one step without `await`; printing it is outside.
actor TicketOffice {
    private var stock: [InputFile]
    private var sold: [InputFile: Int] = [:]
    private var printed = DigestList()

    init(stock: [InputFile]) {
        self.stock = stock
    }

    func sell() -> InputFile? {
        guard let ticket = stock.popLast() else { return nil }
        sold[ticket, default: 0] += 1
        return ticket
    }

    func handOver(_ ticket: InputFile, _ print: Result<Digest, any Error>) {
        printed.add(ticket, print)
    }

    var report: RecipeResult {
        printed.result.adding([
            "\(sold.count) sold", "\(sold.values.filter { $0 > 1 }.count) twice", "\(stock.count) left",
        ])
    }
}
// endregion

/// An actor that checks the stock and takes the ticket in two steps. The other seller can enter the actor at the
/// `await` between the steps.
actor CarelessOffice {
    private var stock = 1
    private var sold = 0

    func sell(meanwhile: @Sendable () async -> Void) async {
        if stock == 0 { return }
        await meanwhile()
        stock -= 1
        sold += 1
    }

    /// Makes both sellers check before one of them takes. Without this help, it would happen about once in a million
    /// sales.
    static func soldOfOne() async -> Int {
        let office = CarelessOffice()
        let haveLooked = AsyncGroup()
        for _ in 1...2 { haveLooked.enter() }
        await concurrentPerform(over: 1...2, width: 2) { _ in
            await office.sell {
                haveLooked.leave()
                await haveLooked.wait()
            }
        }
        return await office.sold
    }
}

/// The number of bytes of a file that are printed on its ticket.
private let ticketSize = 64 * 1024
