import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("The numbers of a report", .inTurns)
struct TotalsTests {
    private func report(_ sources: [String: String]) throws -> Report {
        let package = try Package(sources)
        var auditor = Auditor(paths: [package.path])
        auditor.usesIndex = false
        return auditor.run()
    }

    private func hours(_ source: String) throws -> Double? { try report(["A.swift": source]).summary.hours }

    private func expectAgreement(_ report: Report) {
        let (sites, effort) = (report.summary.sites, report.summary.effort)
        #expect(sites > 0 && report.summary.hours == Double(effort) / 4)
        #expect(report.folders?.reduce(0) { $0 + $1.sites } == sites)
        #expect(report.folders?.reduce(0) { $0 + $1.hours } == report.summary.hours)
        #expect(report.patterns.reduce(0) { $0 + $1.sites } == sites)
        #expect(report.patterns.reduce(0) { $0 + ($1.hours ?? 0) } == report.summary.hours)
        #expect(report.waves.reduce(0) { $0 + $1.sites } == sites)
        #expect(report.waves.reduce(0) { $0 + $1.effort } == effort)
        let files = report.waves.flatMap(\.files)
        #expect(files.reduce(0) { $0 + $1.effort } == effort && files.count == report.summary.files)
        for file in files where !file.types.isEmpty { #expect(file.types.reduce(0) { $0 + $1.effort } <= file.effort) }
    }

    @Test("The headline, the folders, the patterns and the waves have the same totals")
    func totals() throws {
        var auditor = Auditor(paths: [Guide.package.appending(path: "Sources/MigrationExamples/Legacy").path])
        auditor.usesIndex = false
        expectAgreement(auditor.run())
        let statics = "enum A { static var a = 1 }\nlet queue = OperationQueue()\n"
        let mixed = try report(["A.swift": statics, "B.swift": statics.replacing("A", with: "B")])
        expectAgreement(mixed)
        #expect(mixed.summary.checkingSites == 2 && mixed.summary.checkingHours == 0.5)
    }

    @Test("A lock with its sections and the conformance that it justifies is one change")
    func locks() throws {
        let section = "func f() {\n    lock.lock()\n    defer { lock.unlock() }\n}\n"
        let lock = "class A: @unchecked Sendable {\nprivate let lock = NSLock()\n%}\n"
        #expect(try hours(lock.replacing("%", with: section)) == 0.5)
        let six = try #require(try hours(lock.replacing("%", with: String(repeating: section, count: 6))))
        #expect(six > 0.5 && six <= 1.25)
    }

    @Test("Findings of several families in a type are one change, also in an extension of the file")
    func families() throws {
        let body = "func f(_ q: DispatchQueue) {\n    q.async {}\n    lock.lock()\n}\n"
        let extended = "extension A {\nstatic var x = 1\n}\n"
        #expect(try hours("final class A {\nlet lock = NSLock()\n" + body + "}\n\n" + extended) == 0.5)
        // The head of an extension belongs to the extension.
        #expect(try hours("extension DispatchQueue {\nfunc f() {\nasync {}\n}\n\n\n}\n") == 0.5)
        let other = body.replacing("lock.lock()", with: "")
        #expect(try hours("final class A {\n" + body + "}\nfinal class B {\n" + other + "}\n") == 1)
    }

    @Test("123 static variables are a few hours")
    func statics() throws {
        let variables = (0..<123).map { "static var a\($0) = 1\n" }.joined()
        #expect(try hours("enum A {\n\(variables)}\n") == 6.25)
        let types = (0..<41).map { "enum A\($0) { static var a = 1; static var b = 1; static var c = 1 }\n" }.joined()
        #expect(try hours(types) == 10.25)
    }

    @Test("A subclass has the time of its body, its callers and its tests, and at most an hour for 20 lines")
    func subclasses() throws {
        func subclass(_ name: String, of base: String, lines: Int) -> String {
            "class \(name): \(base) {" + String(repeating: "\n", count: lines - 2) + "override func main() {}\n}\n"
        }
        let own = subclass("A", of: "Operation", lines: 40)
        #expect(try hours(own) == 2)
        // The two subclasses are two changes.
        #expect(try hours(own + subclass("B", of: "A", lines: 100)) == 7)
        #expect(try hours(own + subclass("B", of: "A", lines: 20)) == 3)
        #expect(try hours("class A: Operation {}\n") == 0.25)
        #expect(try hours(subclass("A", of: "Operation", lines: 400)) == 2)
    }

    @Test("The table is a screen, and --list prints the sites and waves")
    func screen() throws {
        let package = try Package(
            Dictionary(
                uniqueKeysWithValues: (0..<60).map { number in
                    let type = "class A\(number): Operation { override func main() { gate.wait(); lock.lock() }\n"
                    let members = "let gate = DispatchGroup(); let lock = NSLock(); var uses: A\(number / 2)?\n"
                    return (
                        "F\(number)/A\(number).swift",
                        type + members + "static var x = 1 }\nlet q\(number) = OperationQueue()\n"
                    )
                }))
        try package.write("let x = 1 // audit:allow(locks)\n", to: "Sources/App/Note.swift")
        let screen = package.run().output
        #expect(screen.split(separator: "\n", omittingEmptySubsequences: false).count <= 50, "\(screen)")
        #expect(
            screen.contains("and 58 more files") && screen.contains("--list prints")
                && screen.contains("gives no reason"))
        let list = package.run("--list").output
        #expect(
            list.contains("Sources/App/F59/A59.swift\n  1:") && list.contains("wave 1  ")
                && list.contains("gives no reason"))
    }

    @Test("Characters that change a terminal's text are escaped in names")
    func names() throws {
        let name = "A\u{202E}B\u{1B}[31m\nC.swift"
        let package = try Package([
            name:
                "let queue = OperationQueue() // audit:allow(\u{202E}) why\n#if \u{202E}X\nlet lock = NSLock()\n#endif\n"
        ])
        let runs = [
            package.run("--list").output, package.run().output, package.run("--format", "xcode").output,
            package.run("--format", "github").output, package.run("--fix").errors,
        ]
        for text in runs {
            #expect(!text.unicodeScalars.contains("\u{202E}") && !text.unicodeScalars.contains("\u{1B}"), "\(text)")
            #expect(!text.contains("\nC.swift"))
        }
        let page = package.path + "/page.html"
        #expect(package.run("--html", page).status == .success)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(!html.unicodeScalars.contains("\u{202E}") && html.contains("A\\\\u{202E}B\\u001b[31m"))
        #expect(runs[0].contains("A\\u{202E}B\\u{1B}[31m\\u{A}C.swift"))
        // Git and patch read this form.
        #expect(package.run("--fix").output.contains("A\\342\\200\\256B\\033[31m\\012C.swift\"\n@@"))
    }
}
