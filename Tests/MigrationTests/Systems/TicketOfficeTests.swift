import Foundation
import MigrationExamplesSupport
import TaskOperationsExtras
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

@Suite("The ticket office, on both sides", .inTurns, .endsInTime)
struct TicketOfficeTests {
    private let temporary: TemporaryFolder
    private let files: [InputFile]

    init() throws {
        temporary = try TemporaryFolder()
        for number in 0..<300 { try temporary.write("\(number)", to: "\(number)") }
        files = try InputFolder(listing: temporary.path).files
    }

    @Test("Many concurrent sellers sell each ticket once")
    func neverOversold() async {
        let legacy = MigrationExamplesLegacy.TicketOffice(stock: files)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            while let ticket = legacy.sell() {
                legacy.handOver(ticket, .success(SHA256.digest(of: [])))
            }
        }
        #expect(legacy.report.text.hasSuffix("300 sold, 0 twice, 0 left"))

        let ported = MigrationExamplesPorted.TicketOffice(stock: files)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    while let ticket = await ported.sell() {
                        await ported.handOver(ticket, .success(SHA256.digest(of: [])))
                    }
                }
            }
        }
        #expect(await ported.report.text.hasSuffix("300 sold, 0 twice, 0 left"))
        #expect(await ported.report.text == legacy.report.text)
    }

    @Test("Looking and taking in two steps sells one ticket twice, with threads and with an actor")
    func careless() async {
        #expect(MigrationExamplesLegacy.CarelessOffice.soldOfOne() == 2)
        #expect(await MigrationExamplesPorted.CarelessOffice.soldOfOne() == 2)
    }
}
