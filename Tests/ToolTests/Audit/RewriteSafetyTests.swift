import Foundation
import TestSupport
import Testing

@testable import SourceAudit

/// A rewrite changes only sources of a target, and no platform.
@Suite("The safety of rewrites", .inTurns)
struct RewriteSafetyTests {
    private static let lock = "import Foundation\nprivate let lock = NSLock()\n"

    private func manifest(_ arguments: String) -> String {
        "// swift-tools-version: 6.0\nlet package = Package(name: \"App\", \(arguments))\n"
    }

    // MARK: Targets

    @Test("Only sources of a target are rewritten")
    func targets() throws {
        let list = """
            platforms: [.macOS(.v15)], targets: [
                .target(name: "App", exclude: ["Old", "Old.swift"], resources: [.copy("Samples")]),
                .target(name: "Kit", path: "Kit/Code", sources: ["Own"]),
                .testTarget(name: "AppTests"),
            ]
            """
        let package = try Package([:], manifest: manifest(list))
        let rewritten = ["Sources/App/A.swift", "Kit/Code/Own/A.swift", "Tests/AppTests/A.swift"]
        let left = [
            "Sources/App/Old/A.swift", "Sources/App/Old.swift", "Sources/App/Samples/A.swift",
            "Sources/App/A.playground/A.swift", "Kit/Code/A.swift", "Samples/A.swift", "Sources/Other/A.swift",
        ]
        for path in rewritten + left { try package.write(Self.lock, to: path) }
        let fixes = package.fixes()
        #expect(Set(fixes.files.map { String($0.path.dropFirst(package.path.count + 1)) }) == Set(rewritten))
        #expect(Set(fixes.left.map { String($0.finding.path.dropFirst(package.path.count + 1)) }) == Set(left))
        #expect(fixes.left.allSatisfy { $0.reason == "no target of Package.swift compiles it" }, "\(fixes.left)")
    }

    @Test("A project below a package is rewritten if its path is given or the package depends on it")
    func examples() throws {
        let own = "platforms: [.macOS(.v15)], targets: [.target(name: \"App\")]"
        let package = try Package([:], manifest: manifest(own))
        try package.write(manifest(own), to: "Example/Package.swift")
        try package.write(Self.lock, to: "Example/Sources/App/A.swift")
        #expect(package.fixes().left.map(\.reason).first?.contains("a project of its own") == true)
        func fixes(_ path: String) -> Int {
            var auditor = Auditor(paths: [package.path + path])
            auditor.usesIndex = false
            return auditor.fixes().files.count
        }
        #expect(fixes("/Example") == 1 && fixes("/Example/Sources") == 1 && fixes("") == 0)
        try package.write(
            manifest("dependencies: [.package(path: \"Example\")], " + own), to: "Package.swift")
        #expect(fixes("") == 1)
    }

    @Test("Sources of targets in `Source` and of computed targets are rewritten")
    func unusualTargets() throws {
        let source = try Package(
            [:], manifest: manifest("platforms: [.macOS(.v15)], targets: [.target(name: \"Kit\")]"))
        try source.write(Self.lock, to: "Source/Kit/A.swift")
        #expect(source.fixes().files.count == 1)
        let computed = """
            // swift-tools-version: 6.0
            var targets: [Target] = [.target(name: "App", exclude: ["Old"])]
            for name in ["A", "B"] { targets.append(.target(name: name, exclude: ["Left"])) }
            let package = Package(name: "App", platforms: [.macOS(.v15)], targets: targets)
            """
        let package = try Package(["A.swift": Self.lock, "Old/A.swift": Self.lock], manifest: computed)
        try package.write(Self.lock, to: "Sources/B/A.swift")
        try package.write(Self.lock, to: "Sources/B/Left/A.swift")
        try package.write(Self.lock, to: "Examples/A.swift")
        let files = package.fixes().files.map { String($0.path.dropFirst(package.path.count + 1)) }
        #expect(files == ["Sources/App/A.swift", "Sources/B/A.swift"])
    }

    @Test("Files of the project that were not audited are read for uses and names")
    func unauditedFiles() throws {
        func fixes(_ other: String) throws -> [String] {
            let package = try Package([
                "A/A.swift": "import Foundation\nfinal class A { let lock = NSLock() }\n", "B.swift": other,
            ])
            var auditor = Auditor(paths: [package.path + "/Sources/App/A"])
            auditor.usesIndex = false
            return auditor.fixes().left.map(\.reason)
        }
        #expect(try fixes("func f(_ a: A) { a.lock.lock() }\n").first?.contains("B.swift:1 may use it") == true)
        #expect(try fixes("struct Mutex {}\n").first?.contains("a type Mutex of its own") == true)
        let extended =
            "extension NSLock { func withLock<T>(_ f: () -> T) -> T { lock(); defer { unlock() }; log(); return f() } }\n"
        #expect(try fixes(extended).first?.contains("a withLock of its own") == true)
        #expect(try fixes("let x = 1\n") == [])
    }

    // MARK: Platforms

    @Test("No platform is raised without the option")
    func platforms() throws {
        let own = "targets: [.target(name: \"App\")]"
        for (arguments, reason) in [
            (own, "Package.swift states no version of iOS, which may have no Mutex"),
            ("platforms: [.iOS(.v17), .macOS(.v15)], " + own, "Package.swift allows iOS 17.0, which has no Mutex"),
            ("platforms: [.iOS(\"17.4\"), .macOS(.v15)], " + own, "allows iOS 17.4"),
            ("platforms: [.macOS(.v10_15)], " + own, "allows macOS 10.15"),
            ("platforms: [.iOS(.v18)], " + own, "allows macOS 10.13"),
            ("platforms: [mine], " + own, "which may have no Mutex"),
            ("platforms: [.macOS(.v13), .iOS(.v16)], " + own, "no Mutex, and Linux has no OSAllocatedUnfairLock"),
        ] {
            let package = try Package(["A.swift": Self.lock], manifest: manifest(arguments))
            let fixes = package.fixes()
            #expect(fixes.files.isEmpty && fixes.left.first?.reason.contains(reason) == true, "\(fixes.left)")
            guard !arguments.contains("mine") else { continue }
            #expect(package.fixes(raisesPlatforms: true).files.count == 2)
        }
        let kit = try Package(
            ["A.swift": "import UIKit\n" + Self.lock], manifest: manifest("platforms: [.iOS(.v18)], " + own))
        #expect(kit.fixes().files.count == 1)
    }

    @Test("A file with more than 1,000 sites is left")
    func manySites() throws {
        let locks = (0...1000).map { "let l\($0) = NSLock(); " }.joined()
        let fixes = try Package(["A.swift": "import Foundation\nclass A { \(locks) }\n"]).fixes()
        #expect(fixes.files.isEmpty && fixes.left.count == 1001)
        #expect(fixes.left.allSatisfy { $0.reason == "the file has more than 1000 sites" })
    }

    @Test("The platforms of a package are raised with those of the packages that depend on it, or not at all")
    func dependents() throws {
        let app = try Package([:], manifest: manifest("dependencies: [.package(path: \"Mid\")], targets: []"))
        let mid = "platforms: [.macOS(.v12)], dependencies: [.package(path: \"../Low\")], targets: []"
        try app.write(manifest(mid), to: "Mid/Package.swift")
        try app.write(manifest("targets: [.target(name: \"Low\")]"), to: "Low/Package.swift")
        try app.write(manifest("targets: []"), to: "Other/Package.swift")
        try app.write(Self.lock, to: "Low/Sources/Low/A.swift")
        try app.write("", to: ".git/HEAD")
        func fixes(_ folders: String...) -> Fixes {
            var auditor = Auditor(paths: folders.map { app.path + $0 })
            auditor.raisesPlatforms = true
            return auditor.fixes()
        }
        let names = fixes("").files.map { String($0.path.dropFirst(app.path.count + 1)) }
        #expect(names == ["Low/Package.swift", "Low/Sources/Low/A.swift", "Mid/Package.swift", "Package.swift"])
        let low = fixes("/Low")
        #expect(low.files.isEmpty && low.left.first?.reason.contains("/Mid/Package.swift depends on it") == true)
        // The audit does not raise the deployment targets of an Xcode project.
        let reference = "R = { isa = XCLocalSwiftPackageReference; relativePath = Low; }; P = {"
        try app.write(
            xcodeProject("IPHONEOS_DEPLOYMENT_TARGET = 17.0;").replacing(" P = {", with: reference),
            to: "App.xcodeproj/project.pbxproj")
        #expect(fixes("").left.first?.reason.contains("App.xcodeproj allows iOS 17.0") == true)
    }

    @Test("A podspec states platforms too, which are never raised")
    func podspecs() throws {
        let own = "platforms: [.macOS(.v15), .iOS(.v18)], targets: [.target(name: \"App\")]"
        for (podspec, isOld) in [
            ("s.ios.deployment_target = '9.0'", true), ("s.platform = :ios, \"12.0\"", true),
            ("s.platforms = { :ios => '16.0', :osx => '15.0' }", true), ("s.platforms = { ios: '18.0' }", false),
            ("s.ios.deployment_target = '18.0'\ns.osx.deployment_target = '10.13'", true),
            ("s.ios.deployment_target = VERSION", true), ("s.ios.deployment_target = \"18.0\"", false),
        ] {
            let package = try Package(["A.swift": Self.lock], manifest: manifest(own))
            try package.write(podspec, to: "App.podspec")
            #expect(package.fixes().files.isEmpty == isOld, "\(podspec)")
            #expect(package.fixes(raisesPlatforms: true).files.isEmpty == isOld, "\(podspec)")
        }
    }

    /// A project with the target App, which compiles `Code/A.swift` and the folder `Synced` without `Synced/Not.swift`.
    private func xcodeProject(_ target: String, _ project: String = "") -> String {
        """
        // !$*UTF8*$!
        { archiveVersion = 1; objectVersion = 77; rootObject = P; objects = {
            P = { isa = PBXProject; mainGroup = G; targets = ( T ); buildConfigurationList = PL; projectDirPath = ""; };
            PL = { isa = XCConfigurationList; buildConfigurations = ( PC ); };
            PC = { isa = XCBuildConfiguration; name = Debug; buildSettings = { SDKROOT = iphoneos; \(project) }; };
            G = { isa = PBXGroup; children = ( C, S, X ); sourceTree = "<group>"; };
            C = { isa = PBXGroup; children = ( F ); path = Code; sourceTree = "<group>"; };
            F /* A.swift */ = { isa = PBXFileReference; path = A.swift; sourceTree = "<group>"; };
            X = { isa = PBXFileReference; path = App.xcconfig; sourceTree = SOURCE_ROOT; };
            S = { isa = PBXFileSystemSynchronizedRootGroup; path = Synced; exceptions = ( E ); sourceTree = "<group>"; };
            E = { isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = T; membershipExceptions = ( Not.swift ); };
            B = { isa = PBXBuildFile; fileRef = F; };
            SP = { isa = PBXSourcesBuildPhase; files = ( B ); };
            T = { isa = PBXNativeTarget; name = App; buildPhases = ( SP ); buildConfigurationList = TL;
                fileSystemSynchronizedGroups = ( S ); };
            TL = { isa = XCConfigurationList; buildConfigurations = ( TC ); };
            TC = { isa = XCBuildConfiguration; name = Debug; baseConfigurationReference = X; buildSettings = { \(target) }; };
        }; }
        """
    }

    private func app(_ target: String, _ project: String = "", configuration: String = "") throws -> Package {
        let package = try Package([:])
        try FileManager.default.removeItem(atPath: package.path + "/Package.swift")
        try package.write(xcodeProject(target, project), to: "App.xcodeproj/project.pbxproj")
        try package.write(configuration, to: "App.xcconfig")
        for path in ["Code/A.swift", "Synced/A.swift", "Synced/Not.swift", "Example/A.swift"] {
            try package.write(Self.lock, to: path)
        }
        return package
    }

    @Test("The sources of an app are rewritten for the deployment target of its Xcode project")
    func apps() throws {
        let app = try app("IPHONEOS_DEPLOYMENT_TARGET = 18.0;")
        let fixes = app.fixes()
        #expect(
            fixes.files.map { String($0.path.dropFirst(app.path.count + 1)) } == ["Code/A.swift", "Synced/A.swift"])
        #expect(fixes.left.allSatisfy { $0.reason == "no target of App.xcodeproj compiles it" }, "\(fixes.left)")
        func text(_ app: Package) -> String {
            let file = app.fixes().files.first { $0.path.hasSuffix("Code/A.swift") }
            return file.map { String(decoding: $0.new, as: UTF8.self) } ?? ""
        }
        #expect(text(app).contains("import Synchronization\nprivate let lock = Mutex(())"))
        let older = try self.app("IPHONEOS_DEPLOYMENT_TARGET = 16.4;")
        #expect(
            text(older).contains("import struct os.OSAllocatedUnfairLock\nprivate let lock = OSAllocatedUnfairLock()"))
        #expect(try text(self.app("IPHONEOS_DEPLOYMENT_TARGET = 15.0;")) == "")
        #expect(try text(self.app("")) == "")
        #expect(try text(self.app("", "IPHONEOS_DEPLOYMENT_TARGET = 18.0;")).contains("Mutex"))
        #expect(try text(self.app("IPHONEOS_DEPLOYMENT_TARGET = \"$(FLOOR)\"; FLOOR = 18.0;")).contains("Mutex"))
        #expect(try text(self.app("", configuration: "IPHONEOS_DEPLOYMENT_TARGET = 18.2 // new\n")).contains("Mutex"))
        #expect(try text(self.app("", configuration: "IPHONEOS_DEPLOYMENT_TARGET = 12.0\n")) == "")
    }

    @Test("A package whose Xcode project has a lower deployment target keeps its locks")
    func packageWithXcodeProject() throws {
        let package = try app("IPHONEOS_DEPLOYMENT_TARGET = 13.0;")
        try package.write(
            manifest("platforms: [.macOS(.v15), .iOS(.v18)], targets: [.target(name: \"App\", path: \"Code\")]"),
            to: "Package.swift")
        #expect(package.fixes().left.contains { $0.reason.contains("App.xcodeproj allows iOS 13.0") })
    }

    // MARK: Unfair locks

    private static func guarded(_ body: String, lock: String = "private let lock = NSLock()") -> String {
        "import Foundation\nstruct A {\n    \(lock)\n    func f(_ g: () -> Int) -> Int {\n        \(body)\n    }\n}\n"
    }

    private func unfair(_ source: String) throws -> String? {
        let package = try app("IPHONEOS_DEPLOYMENT_TARGET = 17.0;")
        try package.write(source, to: "Code/A.swift")
        return package.fixes().files.first { $0.path.hasSuffix("Code/A.swift") }.map {
            String(decoding: $0.new, as: UTF8.self)
        }
    }

    @Test("An unfair lock takes the place of a lock that one function locks and unlocks")
    func unfairLocks() throws {
        let sections =
            "lock.lock()\n        let x = 1\n        lock.unlock()\n        return lock.withLock { x } + lock.withLock(g)"
        let rewritten = try unfair(Self.guarded(sections))
        #expect(
            rewritten?.contains(
                "import struct os.OSAllocatedUnfairLock\nstruct A {\n    private let lock = OSAllocatedUnfairLock()\n")
                == true)
        #expect(
            rewritten?.contains(
                "lock.unlock()\n        return lock.withLockUnchecked { x } + lock.withLockUnchecked(g)") == true)
        let semaphore = try unfair(
            Self.guarded(
                "gate.wait()\n        defer { gate.signal() }\n        return 1",
                lock: "private let gate = DispatchSemaphore(value: 1)"))
        #expect(semaphore?.contains("gate.lock()\n        defer { gate.unlock() }") == true)
        let queue = try unfair(
            Self.guarded(
                "return q.sync { 1 }", lock: "private let q: DispatchQueue = DispatchQueue(label: \"a\", qos: .utility)"
            ))
        #expect(queue?.contains("let q: OSAllocatedUnfairLock<Void> = OSAllocatedUnfairLock()") == true)
        #expect(queue?.contains("return q.withLockUnchecked { 1 }") == true)
        for rewritten in [rewritten, semaphore, queue] {
            let left = Example.findings(inSource: rewritten ?? "").filter { $0.pattern.effort != .kept }
            #expect(left.isEmpty, "\(left)")
        }
        for body in [
            "lock.lock()\n        return 1", "lock.try()", "h(lock)",
            "lock.lock()\n        await h()\n        lock.unlock()",
        ] {
            #expect(try unfair(Self.guarded(body)) == nil, "\(body)")
        }
    }

    @Test("A closure whose result a queue discards returns nothing")
    func discarded() throws {
        let old = """
            final class A {
                private let q = DispatchQueue(label: "")
                private var x: Set<Int> = []
                func f() {
                    q.sync { x.remove(1) }
                }
                func g() {
                    q.sync {
                        x.remove(1)
                    }
                    q.sync {
                        x.remove(1)
                        x.remove(2)
                    }
                }
                var y: Int { q.sync { x.count } }
            }

            """
        let mutex = try Package(["A.swift": old]).fixes().files.first.map { String(decoding: $0.new, as: UTF8.self) }
        #expect(mutex?.components(separatedBy: "{ _ -> Void in").count == 3)
        #expect(mutex?.components(separatedBy: "{ _ in").count == 3)
        let unfair = try unfair(old)
        #expect(unfair?.components(separatedBy: "q.withLockUnchecked { () -> Void in").count == 3)
        #expect(unfair?.components(separatedBy: "q.withLockUnchecked {").count == 5)
    }

    // MARK: Forms

    @Test(
        "More forms of locks are rewritten",
        arguments: [
            ("private let lock: NSLock = .init()\n", "private let lock: Mutex<Void> = Mutex(())\n"),
            (
                "final class A {\n    private let q = DispatchQueue(label: \"\", qos: .utility)\n    var x: Int { q.sync { 1 } }\n}\n",
                "final class A {\n    private let q = Mutex(())\n    var x: Int { q.withLock { _ in 1 } }\n}\n"
            ),
            (
                "final class A {\n    private let lock = NSLock()\n    func f(_ g: () throws -> Int) rethrows -> Int { try lock.withLock(g) }\n}\n",
                "final class A {\n    private let lock = Mutex(())\n    func f(_ g: () throws -> Int) rethrows -> Int { try lock.withLock { _ in try g() } }\n}\n"
            ),
            (
                "final class A {\n    private let lock = NSLock()\n    func f() -> Int { lock.withLock { g { _ in 1 } } }\n}\n",
                "final class A {\n    private let lock = Mutex(())\n    func f() -> Int { lock.withLock { _ in g { _ in 1 } } }\n}\n"
            ),
            (
                "final class A {\n    private let lock = NSLock()\n    func f(_ g: () -> Int) -> Int { lock.withLock(g) }\n}\n",
                "final class A {\n    private let lock = Mutex(())\n    func f(_ g: () -> Int) -> Int { lock.withLock { _ in g() } }\n}\n"
            ),
        ])
    func forms(old: String, new: String) throws {
        let fixes = try Package(["A.swift": "import Foundation\n" + old]).fixes()
        let text = fixes.files.first.map { String(decoding: $0.new, as: UTF8.self) }
        #expect(text == "import Foundation\nimport Synchronization\n" + new, "\(fixes.left)")
    }

    @Test("Other types of Synchronization's names do not prevent a rewrite")
    func otherNames() throws {
        let source = "import Foundation\nprivate let lock = NSLock()\nlet a = Atomic(1)\n"
        let fixes = try Package(["A.swift": source]).fixes()
        let text = fixes.files.first.map { String(decoding: $0.new, as: UTF8.self) }
        #expect(
            text
                == source.replacing("private", with: "import struct Synchronization.Mutex\nprivate").replacing(
                    "NSLock()", with: "Mutex(())"))
        let module = "import Foundation\nimport Locks\nprivate let lock = NSLock()\n"
        let other = try #require(try Package(["A.swift": module]).fixes().files.first)
        #expect(String(decoding: other.new, as: UTF8.self).contains("import struct Synchronization.Mutex\n"))
    }

    @Test("Line breaks of two characters are kept")
    func lineBreaks() throws {
        let before = try String(
            contentsOf: Guide.package.appending(path: "Sources/MigrationExamples/Rewrites/Before/Locks.swift"),
            encoding: .utf8)
        let after = try String(
            contentsOf: Guide.package.appending(path: "Sources/MigrationExamples/Rewrites/After/Locks.swift"),
            encoding: .utf8)
        let package = try Package(["A.swift": before.replacing("\n", with: "\r\n")])
        let fixes = package.fixes()
        let isExpected = fixes.files.first.map { $0.new == Array(after.replacing("\n", with: "\r\n").utf8) }
        #expect(isExpected == true)
        #expect(!fixes.diff.contains("No newline"))
        let mixed = try Package(["A.swift": Self.lock.replacing("Foundation\n", with: "Foundation\r\n")])
        #expect(mixed.fixes().left.first?.reason.contains("different breaks") == true)
    }

    // MARK: Imports

    @Test(
        "The place of an import",
        arguments: [
            ("\u{FEFF}import Foundation\n%\n", "\u{FEFF}import Foundation\n+%\n"),
            ("\u{FEFF}%\n", "\u{FEFF}+%\n"),
            ("/// Documents it.\n%\n", "+/// Documents it.\n%\n"),
            (
                "// Header\n// of two lines\n\n/// Documents it.\n%\n",
                "// Header\n// of two lines\n\n+/// Documents it.\n%\n"
            ),
            ("// Header\n/// Documents it.\n%\n", "// Header\n+/// Documents it.\n%\n"),
            ("/* Header\n\n of lines */\n\n%\n", "/* Header\n\n of lines */\n\n+%\n"),
            ("/** Documents\n\n it. */\n%\n", "+/** Documents\n\n it. */\n%\n"),
            ("// Header\n\n// lint:disable:next all\n%\n", "// Header\n\n+// lint:disable:next all\n%\n"),
            (
                "import Foundation // why\n\n/// Documents it.\n%\n",
                "import Foundation // why\n+\n/// Documents it.\n%\n"
            ),
            ("#if canImport(UIKit)\nimport UIKit\n#endif\n%\n", "+#if canImport(UIKit)\nimport UIKit\n#endif\n%\n"),
            ("import Foundation\n@testable import App\n%\n", "import Foundation\n@testable import App\n+%\n"),
        ])
    func imports(old: String, new: String) throws {
        let fixes = try Package(["A.swift": old.replacing("%", with: "private let lock = NSLock()")]).fixes()
        let text = fixes.files.first.map { String(decoding: $0.new, as: UTF8.self) }
        let added = old.contains("App") ? "import struct Synchronization.Mutex\n" : "import Synchronization\n"
        #expect(text == new.replacing("+", with: added).replacing("%", with: "private let lock = Mutex(())"))
    }

    // MARK: Writing

    @Test("Nothing is written if a file cannot be replaced")
    func readOnly() throws {
        let package = try Package(["A.swift": Self.lock, "B.swift": Self.lock])
        let last = package.path + "/Sources/App/B.swift"
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: last)
        let (status, _, errors) = package.run("--fix", "--write", "--force")
        #expect(status == .failure && errors.contains("no file was changed") && errors.contains("B.swift is read-only"))
        #expect(try package.text("Sources/App/A.swift") == Self.lock)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: last)
        #expect(package.run("--fix", "--write", "--force").status == .success)
        #expect(try package.text("Sources/App/B.swift").contains("Mutex"))
        let mode = try FileManager.default.attributesOfItem(atPath: last)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: package.path + "/Sources/App").count == 2)
    }

    @Test("A file that changes during the audit is not replaced, and no other file is")
    func changedMeanwhile() throws {
        let package = try Package(["A.swift": Self.lock, "B.swift": Self.lock])
        let files = package.fixes().files
        try package.write(Self.lock + "// new\n", to: "Sources/App/B.swift")
        #expect(throws: FileReplacement.Failure.self) { try FileReplacement.replace(files) { _ in } }
        #expect(try package.text("Sources/App/A.swift") == Self.lock)
        #expect(try FileManager.default.contentsOfDirectory(atPath: package.path + "/Sources/App").count == 2)
    }

    @Test("The hidden files of a killed run are removed by the next one, and no other files")
    func remains() throws {
        let passed = "private let lock = NSLock()\nfunc f() { g(lock) }\n"
        let package = try Package(["A.swift": Self.lock, "Left/B.swift": passed])
        let ended = Process()
        ended.executableURL = URL(filePath: "/usr/bin/env")
        ended.arguments = ["true"]
        try ended.run()
        ended.waitUntilExit()
        let (old, own) = (ended.processIdentifier, ProcessInfo.processInfo.processIdentifier)
        let kept = [
            ".A.swift.audit-\(own)-\(UUID().uuidString)", ".A.swift.audit-\(old)-notes", ".swift.audit",
            "A.audit-\(old)-\(UUID().uuidString)",
        ]
        for name in kept { try package.write("", to: "Sources/App/\(name)") }
        for folder in ["", "Left/"] {
            try package.write("", to: "Sources/App/\(folder).A.swift.audit-\(old)-\(UUID().uuidString)")
        }
        _ = package.run("--fix")
        #expect(try FileManager.default.contentsOfDirectory(atPath: package.path + "/Sources/App").count == 7)
        #expect(package.run("--fix", "--write", "--force").status == .success)
        let names = try FileManager.default.subpathsOfDirectory(atPath: package.path + "/Sources/App")
        #expect(Set(names) == Set(kept + ["A.swift", "Left", "Left/B.swift"]))
    }

    // MARK: Numbers

    @Test("The announced number of rewrites is the number of a trial")
    func announced() throws {
        let sources = [
            "A.swift": Self.lock + "private let other = NSLock()\nfunc f() { g(other) }\n",
            "B.swift": "import Foundation\nlet queue = OperationQueue()\n",
        ]
        for manifest in [Package.manifest, Package.oldManifest] {
            let package = try Package(sources, manifest: manifest)
            let output = package.run("--json").output
            let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
            #expect(report.start?.fixable == package.fixes().rewritten.count)
        }
        #expect(try Package(sources).fixes().rewritten.count == 2)
    }
}
