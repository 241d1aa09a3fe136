import Foundation
import MigrationExamplesLegacy
import MigrationExamplesPorted
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Rewrites", .inTurns)
struct RewriteTests {
    // MARK: Compiled examples

    private static let examples = ["Locks", "Semaphores", "SerialQueues", "OperationQueues", "Isolation"]

    private static func example(_ name: String, _ side: String) throws -> String {
        let file = Guide.package.appending(path: "Sources/MigrationExamples/Rewrites/\(side)/\(name).swift")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test("Each example is rewritten to its compiled counterpart", arguments: examples)
    func text(name: String) throws {
        let package = try Package(["\(name).swift": try Self.example(name, "Before")])
        #expect(package.run("--fix", "--write", "--force").status == .success)
        let rewritten = try package.text("Sources/App/\(name).swift")
        let isExpected = try rewritten == Self.example(name, "After")
        #expect(isExpected, "\(rewritten)")
        // A second pass finds no further changes.
        #expect(package.fixes().files.isEmpty)
    }

    @Test("Locks give the same results before and after")
    func locks() throws {
        let before = MigrationExamplesLegacy.LockedStock(["a", "b", "c"])
        let after = MigrationExamplesPorted.LockedStock(["a", "b", "c"])
        #expect(try before.take() == "c" && after.take() == "c")
        #expect(before.text(true) == after.text(true) && before.text(false) == after.text(false))
        before.drop()
        after.drop()
        #expect(!before.isEmpty && !after.isEmpty)
        (before.isEmpty, after.isEmpty) = (true, true)
        #expect(before.isEmpty && after.isEmpty)
        #expect(throws: MigrationExamplesLegacy.Empty.self) { try before.take() }
        #expect(throws: MigrationExamplesPorted.Empty.self) { try after.take() }
        #expect(MigrationExamplesLegacy.LockedStock.count == MigrationExamplesPorted.LockedStock.count)
        #expect(MigrationExamplesLegacy.sumWithLock() == MigrationExamplesPorted.sumWithLock())
        #expect(MigrationExamplesLegacy.CopiedStock().take() == MigrationExamplesPorted.CopiedStock().take())
        #expect(MigrationExamplesLegacy.PassedLock().take() == MigrationExamplesPorted.PassedLock().take())
    }

    @Test("Semaphores and serial queues give the same results before and after")
    func semaphoresAndQueues() {
        let (before, after) = (MigrationExamplesLegacy.Account(), MigrationExamplesPorted.Account())
        #expect(before.add(2) == 2 && after.add(2) == 2)
        before.reset()
        after.reset()
        #expect(before.add(3) == 3 && after.add(3) == 3)
        #expect(MigrationExamplesLegacy.signalled() == MigrationExamplesPorted.signalled())
        let (old, new) = (MigrationExamplesLegacy.Registry(), MigrationExamplesPorted.Registry())
        (old["b"], new["b"], old["a"], new["a"]) = (1, 1, 2, 2)
        #expect(old["b"] == new["b"] && old.all() == new.all() && new.all() == ["a", "b"])
    }

    @Test("Operation queues execute the same before and after")
    func operationQueues() {
        #expect(MigrationExamplesLegacy.Loader().load(40) == MigrationExamplesPorted.Loader().load(40))
    }

    @Test("Callbacks on another queue give the same results before and after") @MainActor
    func isolation() async throws {
        let (before, after) = (MigrationExamplesLegacy.Ticker(), MigrationExamplesPorted.Ticker())
        before.start()
        after.start()
        await before.prepare()
        await after.prepare()
        while before.count < 3 || after.count < 3 || !before.isReady || !after.isReady { await Task.yield() }
        #expect(before.count >= 3 && after.count >= 3 && before.isReady && after.isReady)
    }

    // MARK: Left alone

    private static func lockClass(_ body: String, head: String = "func f()", in type: String = "final class A")
        -> String
    {
        """
        import Foundation
        \(type) {
            private let lock = NSLock()
            private var x = 0
            \(head) {
        \(body)
            }
        }
        """
    }

    private static let kept: [(reason: String, source: String)] = [
        ("it is passed on", lockClass("g(lock)")),
        ("try has no counterpart", lockClass("_ = lock.try()")),
        ("a structure", lockClass("lock.withLock { }", in: "struct A")),
        ("does not pass a closure literal", lockClass("lock.withLock(g)")),
        ("used through another value", lockClass("other.lock.lock()\nother.lock.unlock()", head: "func f(_ other: A)")),
        ("the defer of line 6", lockClass("lock.lock()\ndefer { x = 1; lock.unlock() }\nx = 2")),
        ("released elsewhere", lockClass("lock.unlock()")),
        ("no unlock() follows", lockClass("lock.lock()\nif x == 1 { lock.unlock() }")),
        ("leaves the scope", lockClass("lock.lock()\nif x == 1 { return }\nlock.unlock()")),
        ("let is declared between", lockClass("lock.lock()\nlet y = x\nlock.unlock()\nprint(y)")),
        ("other statements are on the line", lockClass("lock.lock()\ndefer { lock.unlock() }; x = 1\nx = 2")),
        ("there is a comment", lockClass("lock.lock()\n// why\ndefer { lock.unlock() }\nx = 2")),
        ("there is an #if after", lockClass("lock.lock()\ndefer { lock.unlock() }\n#if DEBUG\nx = 2\n#endif\nx = 3")),
        ("there is an #if after", lockClass("#if DEBUG\nlock.lock()\ndefer { lock.unlock() }\nx = 2\n#endif\nx = 3")),
        ("another Mutex", lockClass("lock.withLock { Mutex(x).store(1) }")),
        ("$0 of the closure", lockClass("[1].forEach {\nlock.lock()\ndefer { lock.unlock() }\nx += $0\n}")),
        (
            "a value may be consumed",
            lockClass("lock.lock()\ndefer { lock.unlock() }\nx = f.close()", head: "func f(_ f: consuming File)")
        ),
        (
            "a protocol requires it",
            "protocol Locked { var lock: NSLock { get } }\n" + lockClass("", in: "class A: Locked")
        ),
        ("y may have no value yet", lockClass("let y: Int\nlock.lock()\ndefer { lock.unlock() }\ny = x\nprint(y)")),
        ("y may have no value yet", lockClass("let y: ((Int) -> Void)?\nlock.lock()\ny = z\nlock.unlock()\ny?(1)")),
        ("y may have no value yet", lockClass("let y: (Int, [Int])\nlock.lock()\ny = z\nlock.unlock()\nprint(y)")),
        ("may have no value yet", lockClass("let (y, z): (Int, Int)\nlock.lock()\n(y, z) = w\nlock.unlock()\ng(y)")),
        (
            "the code leaves the critical section",
            lockClass("for _ in 0..<2 {\nlock.lock()\ndefer { lock.unlock() }\nif x == 1 { break }\nx = 1\n}")
        ),
        (
            "the code leaves the block",
            lockClass("switch x {\ncase 1:\nlock.lock()\ndefer { lock.unlock() }\nx = 1\ndefault: x = 2\n}")
        ),
        ("captures self weakly", lockClass("g { [weak self] in\nlock.lock()\ndefer { lock.unlock() }\nx = 1\n}")),
        ("returns a value", lockClass("_ = g {\nlock.lock()\ndefer { lock.unlock() }\nreturn x\n}")),
        ("an initializer", lockClass("lock.lock()\ndefer { lock.unlock() }\nx = 1", head: "init()")),
        (
            "not declared with plain throws",
            lockClass("lock.lock()\ndefer { lock.unlock() }\ntry g()", head: "func f() throws(E)")
        ),
        (
            "may throw errors that it does not catch",
            lockClass("lock.lock()\ndefer { lock.unlock() }\ndo { try g() } catch is E { }", head: "func f() throws")
        ),
        (
            "opaque result",
            lockClass("lock.lock()\ndefer { lock.unlock() }\nreturn x", head: "func f() -> some Equatable")
        ),
        ("it is declared under #if", "import Foundation\n#if DEBUG\nlet lock = NSLock()\n#endif"),
        ("it is public", "import Foundation\npublic let lock = NSLock()"),
        ("it is lazy", "import Foundation\nclass A {\nlazy var lock = NSLock()\n}"),
        ("it has an attribute", "import Foundation\nclass A {\n@objc let lock = NSLock()\n}"),
        ("a type Mutex of its own", "import Foundation\nlet lock = NSLock()\nstruct Mutex {}"),
        (
            "more than a label",
            "import Foundation\nclass A {\nprivate let q = DispatchQueue(label: \"\", autoreleaseFrequency: .workItem)\nvar x: Int { q.sync { 1 } }\n}"
        ),
        ("OperationQueue.current", "import Foundation\nlet q = OperationQueue()\nlet c = OperationQueue.current"),
        ("operations differs", "import Foundation\nlet q = OperationQueue()\nlet c = q.operations"),
        (
            "passed to another API",
            "import Foundation\nlet q = OperationQueue()\nlet c = Other(queue: q)"
        ),
        ("not the value of a declaration", "import Foundation\nfunc f(_ q: OperationQueue = OperationQueue()) {}"),
    ]

    @Test("The value of a call in an interpolation of several lines, or behind an operator, is kept")
    func keptValues() throws {
        for value in ["\"\"\"\n    \\(queue.sync { \"x\\(x)\" })\n    \"\"\"", "nil ??\n    queue.sync { x }"] {
            let source = """
                import Foundation
                final class A {
                    private let queue = DispatchQueue(label: "a")
                    private var x = "0"
                    func f() {
                        let y: String = \(value)
                        print(y)
                    }
                }
                """
            let fixes = try Package(["A.swift": source]).fixes()
            #expect(fixes.files.allSatisfy { !String(decoding: $0.new, as: UTF8.self).contains("-> Void") }, "\(value)")
        }
    }

    @Test("Code without an exact counterpart is left, with the reason", arguments: kept.indices)
    func left(place: Int) throws {
        let (reason, source) = Self.kept[place]
        let fixes = try Package(["A.swift": source]).fixes()
        #expect(fixes.files.isEmpty && fixes.left.count == 1, "\(source)")
        #expect(fixes.left.first?.reason.contains(reason) == true, "\(fixes.left.map(\.reason)) in \(source)")
    }

    @Test("A lock that another file uses is left")
    func usedElsewhere() throws {
        let own = "import Foundation\nfinal class A {\n    let lock = NSLock()\n}\n"
        let other = "func f(_ a: A) { a.lock.lock() }\n"
        let fixes = try Package(["A.swift": own, "B.swift": other]).fixes()
        #expect(fixes.files.isEmpty && fixes.left.map(\.reason).first?.contains("B.swift:1 may use it") == true)
        let global = [
            "A.swift": "import Foundation\nlet lock = NSLock()\n", "B.swift": "class B { func f() { lock.lock() } }\n",
        ]
        #expect(try Package(global).fixes().files.isEmpty)
        let required = ["A.swift": own, "B.swift": "protocol P { var lock: NSLock { get } }\n"]
        #expect(try Package(required).fixes().files.isEmpty)
        #expect(try Package(["A.swift": own, "B.swift": "func f(_ l: L) { l.lock() }\n"]).fixes().files.count == 1)
    }

    @Test("In the Swift 6 mode a result has to be known to be Sendable")
    func swift6() throws {
        let source = """
            import Foundation
            final class A {
                private let lock = NSLock()
                private var x: X?
                func f() -> \("%")  {
                    lock.withLock { x }
                }
            }
            """
        let manifest = Package.manifest.replacing("5.9", with: "6.0")
        func isRewritten(_ type: String, _ manifest: String) throws -> Bool {
            try !Package(["A.swift": source.replacing("%", with: type)], manifest: manifest).fixes().files.isEmpty
        }
        #expect(try isRewritten("X", Package.manifest) && isRewritten("[String: Int?]", manifest))
        #expect(try !isRewritten("X", manifest))
        let old = manifest.replacing("targets:", with: "targets: [], swiftLanguageModes: [.v5], x:")
        #expect(try isRewritten("X", old))
    }

    // MARK: Manifests

    private static let bridge = "import Foundation\nlet queue = OperationQueue()\n"

    private func manifest(_ manifest: String, source: String = bridge) throws -> String {
        let fixes = try Package(["A.swift": source], manifest: manifest).fixes(raisesPlatforms: true)
        let file = try #require(fixes.files.first { $0.path.hasSuffix("Package.swift") }, "\(fixes.left)")
        return String(decoding: file.new, as: UTF8.self)
    }

    @Test("A manifest is given the package, its product, and platforms")
    func manifests() throws {
        let full = """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(
                name: "App",
                platforms: [.macOS(.v13), .iOS("19.0")],
                dependencies: [
                    .package(url: "https://example.com/x.git", from: "1.0.0"),
                ],
                targets: [
                    .target(name: "Other", dependencies: [.target(name: "App")]),
                    .target(
                        name: "App",
                        dependencies: [
                            "X",
                        ]
                    ),
                ]
            )
            """
        let text = try manifest(full)
        #expect(
            text.contains(".macOS(.v15), .iOS(\"19.0\")")
                && text.contains("[.tvOS(.v18), .watchOS(.v11), .visionOS(.v2), .macOS"))
        #expect(text.contains("dependencies: [\n        .package(path: \""))
        #expect(text.contains("dependencies: [\n                .product(name: \"TaskOperationsBridge\", package: \""))
        #expect(text.contains("\"Other\", dependencies: [.target(name: \"App\")])"))
        let plain = try manifest(Package.oldManifest)
        #expect(plain.contains("platforms: [.macOS(\"15.0\"), .iOS(\"18.0\")"))
        #expect(plain.contains(", dependencies: [.package(path: \""))
        #expect(plain.contains(".target(name: \"App\", dependencies: [.product("))
        let known = Package.manifest.replacing(
            "targets:",
            with: "dependencies: [.package(url: \"https://example.com/TaskOperations.git\", from: \"1.0.0\")], targets:"
        )
        #expect(try manifest(known).contains("package: \"TaskOperations\")"))
        // The plugin runs in a package that depends on this package; the folder may have any name.
        let checkout = Guide.package.standardizedFileURL.path
        let depends = Package.manifest.replacing(
            "targets:", with: "dependencies: [.package(path: \"\(checkout)\")], targets:")
        #expect(try manifest(depends).components(separatedBy: ".package(").count == 2)
        let lock = try manifest(Package.oldManifest, source: "import Foundation\nprivate let lock = NSLock()\n")
        #expect(!lock.contains("Bridge") && lock.contains("platforms:"))
    }

    @Test("A file is left if its manifest cannot be changed, or there is none")
    func unplainManifests() throws {
        for (reason, manifest) in [
            (
                "does not list its platforms as a literal",
                Package.oldManifest.replacing("targets:", with: "platforms: [mine], targets:")
            ),
            (
                "does not list its platforms as a literal",
                Package.oldManifest.replacing("targets:", with: "platforms: mine, targets:")
            ),
            ("no target of Package.swift", Package.manifest.replacing("\"App\")]", with: "\"B\")]")),
            ("no plain Package", "// swift-tools-version: 5.9\nlet package = make()\n"),
            ("before 5.0", Package.manifest.replacing("5.9", with: "4.2")),
        ] {
            let fixes = try Package(["A.swift": Self.bridge], manifest: manifest).fixes(raisesPlatforms: true)
            #expect(
                fixes.files.isEmpty && fixes.left.first?.reason.contains(reason) == true, "\(reason): \(fixes.left)")
        }
        let other = try Package(["A.swift": Self.bridge])
        try other.write(Package.manifest, to: "Package@swift-5.10.swift")
        try other.write("// swift-tools-version: 4.2\nlet package = 1\n", to: "Package@swift-4.2.swift")
        #expect(other.fixes().files.isEmpty)
        try FileManager.default.removeItem(atPath: other.path + "/Package@swift-4.2.swift")
        #expect(other.fixes().files.count == 3)
    }

    // MARK: Diff and git

    @Test("The diff is one that git applies, and --write does the same")
    func diff() throws {
        let package = try Package(["A.swift": try Self.example("Locks", "Before")])
        try package.git("init", "-q")
        try package.git("add", ".")
        try package.git("commit", "-qm", "a")
        let (status, diff, errors) = package.run("--fix")
        #expect(status == .success && errors.contains("3 rewritten in 1 file, 2 left"))
        #expect(errors.contains("lock-made is not rewritten: a structure"))
        let relative = diff.replacing(package.path + "/", with: "")
        try package.write(relative, to: "change.diff")
        try package.git("apply", "change.diff")
        let applied = try package.text("Sources/App/A.swift")
        #expect(try applied == Self.example("Locks", "After"))
        let dirty = package.run("--fix", "--write")
        #expect(dirty.status == .success, "nothing is left to change")
        try package.git("checkout", "-q", ".")
        try package.write(try package.text("Sources/App/A.swift") + "// changed\n", to: "Sources/App/A.swift")
        let refused = package.run("--fix", "--write")
        #expect(refused.status == .failure && refused.errors.contains("no file was changed"))
        #expect(try package.text("Sources/App/A.swift") != applied)
        try package.git("checkout", "-q", ".")
        #expect(package.run("--fix", "--write").status == .success)
        #expect(try package.text("Sources/App/A.swift") == applied)
    }

    @Test("Files that git does not know are changed by --force only")
    func unknown() throws {
        let package = try Package(["A.swift": Self.bridge])
        #expect(package.run("--fix", "--write").status == .failure)
        #expect(try package.text("Sources/App/A.swift") == Self.bridge)
        #expect(package.run("--fix", "--write", "--force").status == .success)
        #expect(try package.text("Sources/App/A.swift").contains("BridgedOperationQueue()"))
    }

    @Test("Code that a comment allows is not rewritten")
    func allowed() throws {
        let source = "import Foundation\nlet queue = OperationQueue()  // audit:allow(queues) URLSession wants one\n"
        let fixes = try Package(["A.swift": source]).fixes()
        #expect(fixes.files.isEmpty && fixes.left.isEmpty)
    }
}
