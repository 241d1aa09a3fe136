import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two sellers sell a ticket for each file. An office without care sells its last ticket twice.
    public static func ticketOffice(_ input: RecipeInput) throws -> RecipeResult {
        let office = TicketOffice(stock: input.files)
        let sellers = DispatchGroup()
        for name in ["east", "west"] {
            sellers.enter()
            let seller = Thread {
                while !input.cancellation.isCancelled, let ticket = office.sell() {
                    office.handOver(ticket, Result { SHA256.digest(of: try ticket.contents(upTo: ticketSize)) })
                }
                sellers.leave()
            }
            seller.name = name
            seller.start()
        }
        sellers.wait()
        try input.cancellation.check()
        return office.report.adding(["without care \(CarelessOffice.soldOfOne()) of 1"])
    }
}

// region: ticket-office
/// The state that both sellers share. Taking a ticket is one step under the lock, and printing it is outside.
final class TicketOffice: @unchecked Sendable {
    private let lock = NSLock()
    private var stock: [InputFile]
    private var sold: [InputFile: Int] = [:]
    private var printed = DigestList()

    init(stock: [InputFile]) {
        self.stock = stock
    }

    func sell() -> InputFile? {
        lock.lock()
        defer { lock.unlock() }
        guard let ticket = stock.popLast() else { return nil }
        sold[ticket, default: 0] += 1
        return ticket
    }

    func handOver(_ ticket: InputFile, _ print: Result<Digest, Error>) {
        lock.lock()
        printed.add(ticket, print)
        lock.unlock()
    }

    var report: RecipeResult {
        lock.lock()
        defer { lock.unlock() }
        return printed.result.adding([
            "\(sold.count) sold", "\(sold.values.filter { $0 > 1 }.count) twice", "\(stock.count) left",
        ])
    }
}
// endregion

/// Looks and takes in two steps. Each has the lock, or this would be a data race on top; the two together have not.
final class CarelessOffice: @unchecked Sendable {
    private let lock = NSLock()
    private var stock = 1
    private var sold = 0

    func sell(meanwhile: () -> Void) {
        if lock.withLock({ stock == 0 }) { return }
        meanwhile()
        lock.withLock {
            stock -= 1
            sold += 1
        }
    }

    /// Has both sellers look before one of them takes. Mostly that happens once in a million sales.
    static func soldOfOne() -> Int {
        let office = CarelessOffice()
        let haveLooked = DispatchGroup()
        let sellers = DispatchGroup()
        for group in [haveLooked, haveLooked, sellers, sellers] { group.enter() }
        for _ in 1...2 {
            Thread.detachNewThread {
                office.sell {
                    haveLooked.leave()
                    _ = haveLooked.wait(timeout: .now() + 1200)
                }
                sellers.leave()
            }
        }
        sellers.wait()
        return office.lock.withLock { office.sold }
    }
}

/// How much of a file is printed on its ticket.
private let ticketSize = 64 * 1024
