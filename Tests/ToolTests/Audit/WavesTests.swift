import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("The order", .inTurns)
struct WavesTests {
    @Test("Unused files are the first wave, and files that use no others the first layer")
    func chain() {
        let waves = Waves(edges: [[1: 1], [2: 1], [:]], counts: [true, true, true])
        #expect(waves.wave == [1, 2, 3])
        #expect(waves.layer == [3, 2, 1])
        #expect(waves.rings.isEmpty)
    }

    @Test("A file with nothing to move passes on its uses, and has no wave")
    func through() {
        let waves = Waves(edges: [[1: 1], [2: 1], [:]], counts: [true, false, true])
        #expect(waves.wave == [1, 0, 2])
        #expect(waves.layer == [2, 0, 1])
    }

    @Test("A ring has one wave, and is cut at its rarest use")
    func ring() {
        let waves = Waves(edges: [[1: 5], [2: 1, 3: 9], [0: 7], [:]], counts: [true, true, true, true])
        #expect(waves.wave == [1, 1, 1, 2])
        #expect(waves.rings.map(\.members) == [[0, 1, 2]])
        #expect(waves.rings.first?.cuts == [Waves.Edge(from: 1, to: 2, count: 1)])
    }

    @Test("The cuts of a ring open it")
    func cuts() {
        // Two cycles that share a node, and edges in all directions.
        let edges = [[1: 3, 2: 1], [0: 1, 3: 4], [0: 5], [4: 2], [1: 1, 0: 9]]
        let waves = Waves(edges: edges, counts: [Bool](repeating: true, count: 5))
        let cuts = waves.rings.first?.cuts ?? []
        #expect(waves.rings.map(\.members) == [[0, 1, 2, 3, 4]] && cuts.count <= 3)
        let open = edges.enumerated().map { node, targets in
            targets.filter { target in !cuts.contains { $0.from == node && $0.to == target.key } }
        }
        #expect(Waves(edges: open, counts: [Bool](repeating: true, count: 5)).rings.isEmpty)
    }

    @Test("A file that extends a system type is after the files that use its members")
    func extensions() throws {
        let package = try Package([
            "A.swift": "extension NSLock { convenience init(name: String) { self.init(); self.name = name } }\n",
            "B.swift": "class B { private let lock = NSLock(name: \"b\") }\n",
            "C.swift":
                "class C { private let queue = DispatchQueue(label: \"c\"); func f() { queue.later { g() } } }\n",
            "D.swift": "extension DispatchQueue { func later(_ f: @escaping () -> Void) { async(execute: f) } }\n",
            "E.swift":
                "class E { private let lock = NSLock(); private let list = List(); func f() { list.later { } } }\n",
            "F.swift": "protocol Pool {}\nextension OperationQueue: Pool { func f() { addOperation { } } }\n",
            "G.swift": "class G { private let queue = OperationQueue(); func f() { use(pool: queue) } }\n",
        ])
        var auditor = Auditor(paths: [package.path])
        auditor.usesIndex = false
        let waves = auditor.run().waves.map { $0.files.map { ($0.path as NSString).lastPathComponent }.sorted() }
        #expect(waves == [["B.swift", "C.swift", "E.swift", "G.swift"], ["A.swift", "D.swift", "F.swift"]])
    }

    @Test("A file is after another only if a move changes the interface that it uses")
    func signatures() throws {
        func report(_ sources: [String: String]) -> [[String]] {
            let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            for (name, text) in sources {
                let file = folder.appending(path: name)
                try? FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try? Data(text.utf8).write(to: file)
            }
            var auditor = Auditor(paths: [folder.path])
            auditor.usesIndex = false
            return auditor.run().waves.map { $0.files.map { ($0.path as NSString).lastPathComponent }.sorted() }
        }
        let user = "class B { let a = A(); let queue = OperationQueue() }\n"
        // A lock is an internal detail of its type; a class that becomes a body changes callers.
        #expect(
            report(["A.swift": "class A { private let lock = NSLock() }\n", "B.swift": user]) == [
                ["A.swift", "B.swift"]
            ])
        #expect(
            report(["A.swift": "class A: Operation { override func main() {} }\n", "B.swift": user])
                == [["B.swift"], ["A.swift"]])
        // A package does not see the declarations of packages on which it does not depend.
        let manifest = "// swift-tools-version: 6.0\nlet package = Package(name: \"P\", dependencies: [])\n"
        let apart = [
            "P/Package.swift": manifest, "Q/Package.swift": manifest, "P/B.swift": user,
            "Q/A.swift": "class A: Operation { override func main() {} }\n",
        ]
        #expect(report(apart) == [["A.swift", "B.swift"]])
        let joined = apart.merging(["P/Package.swift": manifest.replacing("[]", with: "[.package(path: \"../Q\")]")]) {
            $1
        }
        #expect(report(joined) == [["B.swift"], ["A.swift"]])
    }

    @Test("A chain of 100,000 files is put into order")
    func longChain() {
        let count = 100_000
        let edges = (0..<count).map { $0 + 1 < count ? [$0 + 1: 1] : [:] }
        let waves = Waves(edges: edges, counts: [Bool](repeating: true, count: count))
        #expect(waves.wave.last == count)
    }
}

/// The waves of the sources in a temporary folder.
private func waves(_ sources: [String: String]) throws -> [Report.Wave] {
    let package = try Package(sources)
    var auditor = Auditor(paths: [package.path])
    auditor.usesIndex = false
    return auditor.run().waves
}

@Suite("Files that share queues", .inTurns)
struct SharedQueuesTests {
    /// The names of the files of each wave. Files that move together are in one string.
    private func order(_ sources: [String: String]) throws -> [[String]] {
        try waves(sources).map { wave in
            let names = wave.files.map { file in
                ([file.path] + (file.movesWith ?? [])).map { ($0 as NSString).lastPathComponent }.sorted()
            }
            return Set(names.map { $0.joined(separator: " ") }).sorted()
        }
    }

    private let work = "func work() { queue.async { } } "

    @Test("A queue that is passed to a parameter of another file ties both files")
    func parameters() throws {
        let worker =
            "class Worker { private let queue: DispatchQueue; init(queue: DispatchQueue) { self.queue = queue }; \(work) }\n"
        let user =
            "class User { private let own = DispatchQueue(label: \"\"); lazy var worker = Worker(queue: %) ; func f() { own.async { } } }\n"
        let other = "class Other { private let queue = DispatchQueue(label: \"\"); \(work) }\n"
        let sources = ["Worker.swift": worker, "User.swift": user.replacing("%", with: "own"), "Other.swift": other]
        #expect(try order(sources) == [["Other.swift", "User.swift Worker.swift"]])
        let function = sources.merging(["Worker.swift": "func Worker(queue: DispatchQueue?) { queue?.async { } }\n"]) {
            $1
        }
        #expect(try order(function) == [["Other.swift", "User.swift Worker.swift"]])
        for system in [".main", "DispatchQueue.global()", "nil"] {
            let alone = sources.merging(["User.swift": user.replacing("%", with: system)]) { $1 }
            #expect(try Set(order(alone).joined()) == ["Other.swift", "User.swift", "Worker.swift"], "\(system)")
        }
    }

    @Test("A file that has nothing to move ties two files if it passes the queue of one to the other")
    func passed() throws {
        let owner = "class Owner { let queue = DispatchQueue(label: \"\"); func f() { queue.async { } } }\n"
        let worker =
            "class Worker { let q: DispatchQueue; init(queue: DispatchQueue) { q = queue }; func f() { q.async { } } }\n"
        let middle = "func make(_ owner: Owner) -> Worker { Worker(queue: owner.queue) }\n"
        let sources = ["Owner.swift": owner, "Worker.swift": worker, "Middle.swift": middle]
        #expect(try order(sources) == [["Owner.swift Worker.swift"]])
        let other = sources.merging(["Middle.swift": middle.replacing("owner.queue", with: ".main")]) { $1 }
        #expect(try order(other).joined().contains("Owner.swift"))
    }

    @Test("A queue that another file uses, also for an interface of the system, ties both files")
    func members() throws {
        let owner = "class Owner { let queue = OperationQueue(); func f() { queue.addOperation { } } }\n"
        let user =
            "class User { let owner = Owner(); func f() { g(delegateQueue: owner.queue); DispatchQueue.main.async { } } }\n"
        #expect(try order(["Owner.swift": owner, "User.swift": user]) == [["Owner.swift User.swift"]])
        let hidden = owner.replacing("let queue", with: "private let queue")
        #expect(try order(["Owner.swift": hidden, "User.swift": user]) == [["Owner.swift", "User.swift"]])
        let more = "extension Owner { func g() { queue.addOperation { } } }\n"
        #expect(try order(["Owner.swift": owner, "More.swift": more]) == [["More.swift Owner.swift"]])
        let inherited = "class Heir: Owner { func g() { self.queue.addOperation { } } }\n"
        #expect(try order(["Owner.swift": owner, "Heir.swift": inherited]) == [["Heir.swift Owner.swift"]])
    }

    @Test("Files that move together are not quick wins, and follow the files that move alone")
    func together() throws {
        let rows =
            try waves([
                "A.swift": "class A { let queue = OperationQueue() }\n",
                "B.swift": "class B { let a = A(); func f() { a.queue.addOperation { } } }\n",
                "C.swift": "func c() { DispatchQueue.main.async { }; DispatchQueue.main.async { } }\n",
            ]).first?.files ?? []
        #expect(rows.map { ($0.path as NSString).lastPathComponent } == ["C.swift", "A.swift", "B.swift"])
        #expect(rows.map { $0.movesWith?.count } == [nil, 1, 1])
    }
}
