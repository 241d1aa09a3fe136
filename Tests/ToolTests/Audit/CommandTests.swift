import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("The command", .inTurns)
struct CommandTests {
    /// A folder of sources that is removed when the object is freed.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)").path

        init(_ files: [String: String] = [:]) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in files { try write(text, to: name) }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to name: String) throws {
            let file = URL(filePath: path).appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    private func run(_ arguments: String...) -> (status: AuditCommand.Status, output: String, errors: String) {
        var (output, errors) = ("", "")
        let command = AuditCommand(
            isTerminal: false, showsProgress: false, write: { output += $0 }, writeError: { errors += $0 })
        return (command.run(["--no-index"] + arguments), output, errors)
    }

    private func report(_ json: String) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(json.utf8))
    }

    private static let queue = "let q = OperationQueue()\n"

    @Test("The table has the summary first, then files, then waves")
    func table() throws {
        let folder = try Folder(["A.swift": Self.queue])
        let (status, output, _) = run(folder.path, "--list")
        #expect(status == .success)
        #expect(output.hasPrefix("1 site to move in 1 file"))
        #expect(output.contains("1:9       OperationQueue()  Operations/maxConcurrentOperationCount"))
        #expect(output.contains("wave 1  1 site, 0.25 h"))
        #expect(!output.contains("\u{1B}"))
        #expect(run(folder.path, "--color").output.contains("\u{1B}[1m"))
    }

    @Test("A long row of the same pattern is one line of the table")
    func runs() throws {
        let folder = try Folder(["A.swift": String(repeating: "let l = NSLock()\n", count: 20) + Self.queue])
        let output = run(folder.path, "--list").output
        #expect(output.contains("  and 19 more to 20:9\n  21:9 "))
        #expect(output.contains("1:9 ") && !output.contains("\n  2:9 "))
    }

    @Test("Work for strict checking is a wave of its own, when all else has moved")
    func lastWave() throws {
        let folder = try Folder([
            "A.swift": "enum A { static var count = 1 }\n",
            "B.swift": "class B: Operation { override func main() {} }\n",
            "C.swift": "let c = (A.count, B())\n" + Self.queue,
        ])
        let report = try report(run(folder.path, "--json").output)
        let waves = report.waves.map { $0.files.map { ($0.path as NSString).lastPathComponent } }
        #expect(waves == [["C.swift"], ["B.swift"], ["A.swift"]])
        #expect(run(folder.path, "--list").output.contains("wave 3  1 site, 0.25 h, after everything else"))
        try folder.write("let c = (A.count, B())\n", to: "C.swift")
        try folder.write("enum B { init() {} }\n", to: "B.swift")
        #expect(try self.report(run(folder.path, "--json").output).waves.map(\.number) == [1])
    }

    @Test("JSON is a report that can be read again, and is the same every time")
    func json() throws {
        let folder = try Folder(["A.swift": Self.queue + "q.addOperation { }\n", "B.swift": "let l = NSLock()\n"])
        let output = run(folder.path, "--json").output
        let report = try report(output)
        #expect(report.schema == 1 && report.files == 2 && report.lines == 3)
        #expect(report.findings.map(\.pattern) == ["queue-made", "queue-add-block", "lock-made"])
        #expect(report.summary.sites == 3 && report.summary.effort == 3)
        #expect(run(folder.path, "--json").output == output)
    }

    @Test("--done succeeds when only findings are left that comments allow with a reason")
    func done() throws {
        let folder = try Folder(["A.swift": Self.queue])
        #expect(run(folder.path, "--done").status == .found)
        try folder.write("// audit:allow(queue-made)\n" + Self.queue, to: "A.swift")
        let unreasoned = run(folder.path, "--done")
        #expect(unreasoned.status == .found && unreasoned.output.contains("gives no reason"))
        try folder.write("// audit:allow(queue-made) URLSession wants one\n\n" + Self.queue, to: "A.swift")
        #expect(run(folder.path, "--done").status == .success)
        try folder.write("let q = OperationQueue()  // audit:allow(queues): URLSession wants one\n", to: "A.swift")
        #expect(run(folder.path, "--done").status == .success)
        try folder.write("// audit:allow-file(queues, locks) generated\n\nlet x = 1\n" + Self.queue, to: "A.swift")
        #expect(run(folder.path, "--done").status == .success)
        try folder.write("// audit:allow(nothing-such) why not\n" + Self.queue, to: "A.swift")
        let unknown = run(folder.path, "--done")
        #expect(unknown.status == .found && unknown.output.contains("there is no pattern nothing-such"))
        #expect(unknown.output.contains("the comment allows nothing"))
    }

    @Test("With a baseline only new findings fail, also if lines have moved")
    func baseline() throws {
        let folder = try Folder(["A.swift": Self.queue])
        let baseline = folder.path + "/old.json"
        try Data(run(folder.path, "--json").output.utf8).write(to: URL(filePath: baseline))
        #expect(run(folder.path, "--baseline", baseline).status == .success)
        try folder.write("let x = 1\n\n" + Self.queue, to: "A.swift")
        #expect(run(folder.path, "--baseline", baseline).status == .success)
        try folder.write(Self.queue + Self.queue, to: "A.swift")
        #expect(run(folder.path, "--baseline", baseline).status == .found)
        try folder.write(Self.queue + "let l = NSLock()\n", to: "A.swift")
        let (status, output, _) = run(folder.path, "--baseline", baseline)
        #expect(status == .found && output.contains("New since the baseline:") && output.contains("2:9       NSLock"))
        #expect(run(folder.path, "--baseline", baseline, "--sarif").output.contains("\"baselineState\" : \"new\""))
    }

    @Test("--compare lists removed and new findings")
    func compare() throws {
        let folder = try Folder(["A.swift": Self.queue, "B.swift": "let l = NSLock()\n"])
        let (old, new) = (folder.path + "/old.json", folder.path + "/new.json")
        try Data(run(folder.path, "--json").output.utf8).write(to: URL(filePath: old))
        try folder.write("let c = NSCondition()\n", to: "B.swift")
        try folder.write("let x = 1\n", to: "A.swift")
        try Data(run(folder.path, "--json").output.utf8).write(to: URL(filePath: new))
        let (status, output, _) = run("--compare", old, new)
        #expect(status == .success)
        #expect(output.contains("sites   2 → 1   50 % done"))
        #expect(output.contains("2 gone, 1 new, 1 file finished"))
        #expect(output.contains("lock-condition"))
    }

    @Test("A baseline holds from any folder, and one of something else is warned of")
    func baselineFolders() throws {
        let folder = try Folder(["App/.git/HEAD": "", "App/Sources/A.swift": Self.queue, "Other/B.swift": Self.queue])
        let baseline = folder.path + "/old.json"
        try Data(run(folder.path + "/App/Sources/../Sources", "--json").output.utf8).write(to: URL(filePath: baseline))
        let (status, _, errors) = run(folder.path + "/App", "--baseline", baseline)
        #expect(status == .success && errors.isEmpty)
        let other = run(folder.path + "/Other", "--baseline", baseline)
        #expect(other.status == .found && other.errors.contains("no path in common"))
        try Data(run(folder.path + "/Other", "--json").output.utf8).write(to: URL(filePath: folder.path + "/new.json"))
        #expect(run("--compare", baseline, folder.path + "/new.json").errors.contains("no path in common"))
    }

    @Test("SARIF has rules with addresses and levels, paths below a root, columns in UTF-16, and ranks")
    func sarif() throws {
        let folder = try Folder(["App/.git/HEAD": "", "App/A b.swift": "/* é */ " + Self.queue])
        let output = run(folder.path, "--sarif").output
        let log = try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let result = try #require((run["results"] as? [[String: Any]])?.first)
        #expect(result["ruleId"] as? String == "queue-made" && result["rank"] as? Double == 99)
        let bases = try #require(run["originalUriBaseIds"] as? [String: [String: String]])
        #expect(bases["SRCROOT"]?["uri"]?.hasSuffix("/App/") == true)
        #expect(output.contains("\"uri\" : \"A%20b.swift\"") && output.contains("\"uriBaseId\" : \"SRCROOT\""))
        #expect(output.contains("\"startColumn\" : 17"))
        let driver = try #require((run["tool"] as? [String: [String: Any]])?["driver"])
        let rule = try #require((driver["rules"] as? [[String: Any]])?.first)
        #expect((rule["helpUri"] as? String)?.hasPrefix("file:///") == true)
        #expect(rule["fullDescription"] != nil)
        #expect((rule["defaultConfiguration"] as? [String: String])?["level"] == "note")
    }

    @Test("A line for each finding has the form that Xcode or a workflow reads")
    func lines() throws {
        let folder = try Folder(["App/.git/HEAD": "", "App/Sources/A,b.swift": Self.queue])
        let xcode = run(folder.path, "--format", "xcode").output
        #expect(xcode.hasPrefix("\(folder.path)/App/Sources/A,b.swift:1:9: warning: OperationQueue(): "))
        #expect(xcode.hasSuffix(" [queue-made]\n"))
        let gitHub = run(folder.path, "--format", "github").output
        #expect(gitHub.hasPrefix("::warning file=Sources/A%2Cb.swift,line=1,col=9,title=queue-made::OperationQueue()"))
        // A combining mark does not change the meaning of the scalar before it.
        let marked = try Folder(["App/.git/HEAD": "", "App/Sources/A,\u{301}%\u{301}b.swift": Self.queue])
        let escaped = run(marked.path, "--format", "github").output
        #expect(escaped.hasPrefix("::warning file=Sources/A%2C\u{301}%25\u{301}b.swift,line=1,col=9,title="))
    }

    @Test("The first screen has hot spots with reasons, quick wins, a line for each other pattern, and folders")
    func firstScreen() throws {
        let resize = "class Resize: Operation { override func main() { gate.wait() } let gate = DispatchGroup() }\n"
        let folder = try Folder([
            "Package.swift":
                "// swift-tools-version: 6.0\nlet package = Package(name: \"A\", platforms: [.macOS(.v15)], targets: "
                + "[.target(name: \"App\"), .target(name: \"Kit\"), .testTarget(name: \"AppTests\")])\n",
            "Sources/App/Resize.swift": resize, "Sources/App/Use.swift": "let r = Resize()\n" + Self.queue,
            "Sources/Kit/Quick.swift": "func f() { DispatchQueue.main.async {}; DispatchQueue.main.async {} }\n",
            "Tests/AppTests/AppTests.swift": Self.queue + "let l = NSLock()\n",
        ])
        let output = run(folder.path).output
        let parts = [
            "sites to move in 4 files", "hours", "2 of the sites and 0.5 of the hours in tests",
            "Subclasses of Operation", "Sources/App/Resize.swift:1", "used by 1", "Blocking waits", "Quick wins",
            "3 sites that audit --fix rewrites", "Quick.swift  2 sites by rote", "everything else",
            "DispatchQueue.main.async",
            "target or folder", "Sources/App", "Sources/Kit", "Tests/AppTests", "tests",
        ]
        var rest = output[...]
        for part in parts {
            let range = try #require(rest.range(of: part), "\(part) is not there, or not in its place: \(output)")
            rest = rest[range.upperBound...]
        }
        let report = try report(run(folder.path, "--json").output)
        #expect(report.summary.testSites == 2 && report.summary.testHours == 0.5)
        #expect(report.folders?.map(\.isTest) == [false, false, true])
    }

    @Test("Excluded files and folders are not read")
    func excluded() throws {
        let folder = try Folder(["A/A.swift": Self.queue, "B/B.swift": Self.queue, "B/C.swift": Self.queue])
        func files(_ arguments: String...) throws -> Int {
            var output = ""
            let command = AuditCommand(
                isTerminal: false, showsProgress: false, write: { output += $0 }, writeError: { _ in })
            _ = command.run(["--no-index", "--json", folder.path] + arguments)
            return try report(output).files
        }
        #expect(try files() == 3)
        #expect(try files("--exclude", "A", "--exclude", "C.swift") == 1)
        #expect(try files("--exclude", folder.path + "/B/") == 1)
    }

    @Test("The page has all that it needs in itself, and no text of a source can end its script")
    func html() throws {
        let folder = try Folder(["A.swift": "let l = NSLock() /* </script><img src=x> */\n"])
        let page = folder.path + "/page.html"
        #expect(run(folder.path, "--html", page).status == .success)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        // The XML namespace of SVG is not an address that is loaded.
        let addresses = text.replacing("http://www.w3.org/2000/svg", with: "")
        #expect(!addresses.contains("http://"))
        #expect(!text.contains("https://") && !text.contains("<img"))
        #expect(text.components(separatedBy: "</script>").count == 3)
        #expect(text.contains("prefers-color-scheme: dark"))
        #expect(text.contains("a `Mutex`") || text.contains("Mutex"))
        // The script must find all elements that it refers to by identifier.
        let named = Set(text.matches(of: /byId\("(\w+)"\)/).map { String($0.1) })
        for name in named { #expect(text.contains("id=\"\(name)\""), "\(name)") }
    }

    @Test("Wrong options end with 2, files that cannot be read or written with 3")
    func failures() throws {
        let folder = try Folder(["A.swift": Self.queue])
        #expect(run("--nonsense").status == .wrongUsage)
        for option in ["--html", "--baseline", "--compare", "--index-store", "--index-library"] {
            let (status, _, errors) = run(folder.path, option)  // another option follows
            #expect(status == .wrongUsage && errors.contains("\(option) needs a value"), "\(option)")
        }
        #expect(run("--compare", "old.json").status == .wrongUsage)
        for options in [
            ["--json", "--sarif"], ["--format", "yaml"], ["--fix", "--json"], ["--write"], ["--fix", "--force"],
        ] {
            let command = AuditCommand(isTerminal: false, showsProgress: false, write: { _ in }, writeError: { _ in })
            #expect(command.run([folder.path] + options) == .wrongUsage, "\(options)")
        }
        #expect(run(folder.path, "--html").status == .wrongUsage)
        #expect(run(folder.path + "/none").status == .failure)
        #expect(run(folder.path, folder.path + "/none").status == .failure)
        #expect(run(folder.path, "--baseline", folder.path + "/none.json").status == .failure)
        #expect(run(folder.path, "--baseline", folder.path + "/A.swift").status == .failure)
        #expect(run(folder.path, "--html", folder.path + "/none/page.html").status == .failure)
        #expect(run(try Folder().path).status == .failure)
        #expect(run("--help").output.contains("exit status"))
    }

    @Test("`audit rules` prints the rules of the article Agents, and a folder of that name is ./rules")
    func rules() throws {
        let article = try String(
            contentsOf: Guide.package.appending(path: "Sources/TaskOperations/TaskOperations.docc/Agents.md"),
            encoding: .utf8)
        let rows = article.split(separator: "\n").filter { $0.wholeMatch(of: /\| \d.*/) != nil }.map(String.init)
        #expect(rows == RuleOfThumb.all.enumerated().map { $1.row($0 + 1) })
        #expect(rows.count == 20)
        let (status, output, _) = run("rules")
        #expect(status == .success && output == RuleOfThumb.text)
        #expect(run("./rules").status == .failure)
    }

    @Test("Links, generated sources, headers of libraries and entries that are no files are skipped")
    func passedOver() throws {
        let folder = try Folder([
            "A.swift": Self.queue, ".build/B.swift": Self.queue, "Pods/C.swift": Self.queue,
            "D.xcframework/Headers/D.h": "@property NSOperationQueue *queue;\n",
            "E.pb.swift": "// DO NOT EDIT.\n// Generated by the compiler.\n" + Self.queue,
            "F.swift": "/* A type.\n   @generated */\n" + Self.queue,
        ])
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/Loop.swift", withDestinationPath: folder.path)
        try manager.createSymbolicLink(atPath: folder.path + "/loop", withDestinationPath: folder.path)
        #expect(mkfifo(folder.path + "/Pipe.swift", 0o600) == 0)
        let report = try report(run(folder.path, "--json").output)
        #expect(report.files == 1)
        let messages = report.notes.map { ($0.path as NSString).lastPathComponent + ": " + $0.message }
        #expect(messages.contains("Loop.swift: a link, which is not followed"))
        #expect(messages.contains("loop: a link, which is not followed"))
        #expect(messages.contains("Pipe.swift: no regular file"))
        #expect(messages.contains("E.pb.swift: is generated, and is not read: change its source"))
        #expect(messages.contains("F.swift: is generated, and is not read: change its source"))
    }

    @Test("An unreadable file is reported, and the others are audited")
    func unreadable() throws {
        let folder = try Folder(["A.swift": Self.queue, "B.swift": Self.queue])
        var path = folder.path + "/B.swift"
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        // File permissions do not stop the superuser, but the first page of a process's memory is unreadable even then.
        if FileManager.default.isReadableFile(atPath: path) {
            path = "/proc/self/mem"
            try FileManager.default.removeItem(atPath: folder.path + "/B.swift")
        }
        let (status, output, _) = run(folder.path, path, "--json")
        let report = try report(output)
        #expect(status == .success && report.files == 1 && report.findings.count == 1)
        #expect(report.notes == [Note(path: path, message: "cannot be read")])
        // A file that could not be read does not count as done.
        try folder.write("let x = 1\n", to: "A.swift")
        #expect(run(folder.path + "/A.swift", "--done").status == .success)
        #expect(run(folder.path, path, "--done").status == .failure)
    }

    @Test("A file that vanishes between the two looks is told")
    func vanishing() throws {
        let folder = try Folder(["A.swift": Self.queue, "B.swift": Self.queue])
        var auditor = Auditor(paths: [folder.path])
        auditor.usesIndex = false
        let gone = folder.path + "/B.swift"
        auditor.progress = { done, all in
            if done == all / 2 { try? FileManager.default.removeItem(atPath: gone) }
        }
        let report = auditor.run()
        #expect(report.findings.count == 1)
        #expect(report.notes.map(\.message) == ["has vanished"])
    }

    @Test("Bytes that are no text, and empty files, are audited")
    func bytes() throws {
        let folder = try Folder(["Empty.swift": ""])
        try Data([0xFF, 0xC0, 0x80] + Array(Self.queue.utf8)).write(to: URL(filePath: folder.path + "/A.swift"))
        let report = try report(run(folder.path, "--json").output)
        #expect(report.findings.count == 1 && report.files == 2)
    }
}
