import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Code that compiles and stops the process", .inTurns)
struct TrapTests {
    private static let trap = "checking-isolated-callback"

    /// The lines of a pattern in a package with one target.
    private static func lines(_ id: String, _ source: String, settings: String = "") throws -> [Int] {
        try findings(["a.swift": source], settings: settings).filter { $0.pattern.id == id }.map(\.line)
    }

    private static func findings(_ sources: [String: String], settings: String = "") throws -> [Finding] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = folder.appending(path: "Sources/App")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            let p = Package(targets: [.target(name: "App", swiftSettings: [\(settings)])])
            """
        try manifest.write(to: folder.appending(path: "Package.swift"), atomically: true, encoding: .utf8)
        for (name, text) in sources {
            try text.write(to: target.appending(path: name), atomically: true, encoding: .utf8)
        }
        return Auditor(paths: [folder.path]).result().findings
    }

    /// Closures of the kinds that the reports of crashes name, in a method of a type on the main actor.
    private static let handlers = [
        "let s = DispatchSource.makeReadSource(fileDescriptor: 0, queue: self.queue); s.setEventHandler { [weak self] in f() }",
        "let t = DispatchSource.makeTimerSource(queue: queue)\n    t.setEventHandler { [weak self] in self?.g() }",
        "let p = DispatchSource.makeMemoryPressureSource(eventMask: .all, queue: .global(qos: .utility)); p.setEventHandler { f() }",
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: id, using: nil) { task in f() }",
        "let item = DispatchWorkItem { [weak self] in f() }; queue.asyncAfter(deadline: .now(), execute: item)",
        "queue.async(execute: DispatchWorkItem { f() })",
        "NSWorkspace.shared.openApplication(at: url, configuration: c) { _, error in f() }",
        "UNUserNotificationCenter.current().requestAuthorization(options: [.alert]) { _, _ in f() }",
        "UNUserNotificationCenter.current().getNotificationSettings { settings in f() }",
        "UNUserNotificationCenter.current().add(request) { _ in f() }",
        "let center = UNUserNotificationCenter.current(); center.add(request, withCompletionHandler: { _ in f() })",
        "group.notify(queue: .global()) { f() }",
        "input.installTap(onBus: 0, bufferSize: 1024, format: nil) { buffer, _ in f() }",
    ]

    @Test("An isolated closure that another queue calls is found, if its type or its target is on the main actor")
    func handlers() throws {
        let body = "let queue = DispatchQueue(label: \"q\")\nfunc go() {\n"
        for handler in Self.handlers {
            let source = body + handler + "\n} }"
            #expect(try Self.lines(Self.trap, "@MainActor final class A { \(source)").count == 1, "\(handler)")
            #expect(try Self.lines(Self.trap, "final class A: UIViewController { \(source)").count == 1, "\(handler)")
            #expect(try Self.lines(Self.trap, "final class A { \(source)").isEmpty, "\(handler)")
            #expect(try Self.lines(Self.trap, "actor A { \(source)").isEmpty, "\(handler)")
            let isolation = ".defaultIsolation(MainActor.self)"
            #expect(try Self.lines(Self.trap, "class A { \(source)", settings: isolation).count == 1, "\(handler)")
            #expect(
                try Self.lines(Self.trap, "nonisolated class A { \(source)", settings: isolation).isEmpty, "\(handler)")
            let free = source.replacing("func go", with: "nonisolated func go")
            #expect(try Self.lines(Self.trap, "@MainActor class A { \(free)").isEmpty, "\(handler)")
        }
    }

    @Test(
        "A closure that the main queue calls, or that is @Sendable, is no trap",
        arguments: [
            "let t = DispatchSource.makeTimerSource(queue: .main); t.setEventHandler { f() }",
            "let t = DispatchSource.makeTimerSource(queue: q); t.setEventHandler { @Sendable in f() }",
            "let i = DispatchWorkItem { f() }; DispatchQueue.main.async(execute: i)",
            "group.notify(queue: .main) { f() }", "DispatchQueue.global().async { f() }",
            "BGTaskScheduler.shared.register(forTaskWithIdentifier: id, using: .main) { task in f() }",
            "UIApplication.shared.open(url, options: [:]) { success in f() }", "queue.addOperation { f() }",
            "Task.detached { center.getNotificationSettings { settings in f() } }", "store.register(name) { f() }",
            "process.terminationHandler = { _ in f() }", "list.add(item) { f() }",
        ])
    func noTraps(body: String) throws {
        #expect(try Self.lines(Self.trap, "@MainActor class A { func go() { \(body) } }").isEmpty)
    }

    @Test("The setting of a project applies beside a manifest, except to the sources of the manifest's targets")
    func projectBesideManifest() throws {
        let source = "class A { func go() { input.installTap(onBus: 0, bufferSize: 1, format: nil) { b, _ in f() } } }"
        let package = try Package(["A.swift": source])
        let build = "SWIFT_VERSION = 5.0; SWIFT_DEFAULT_ACTOR_ISOLATION = MainActor;"
        try package.write(build, to: "App.xcodeproj/project.pbxproj")
        try package.write(source, to: "App/B.swift")
        let found = Auditor(paths: [package.path]).result().findings.filter { $0.pattern.id == Self.trap }
        #expect(found.map { ($0.path as NSString).lastPathComponent } == ["B.swift"])
    }

    @Test("An isolated delegate that a system object calls on its own queue is found")
    func delegates() throws {
        let method = "func urlSession(_ s: URLSession, task: T) {}"
        let isolated = ".defaultIsolation(MainActor.self)"
        let delegate = "class A: NSObject, URLSessionTaskDelegate { \(method) }"
        #expect(try Self.lines(Self.trap, delegate, settings: isolated) == [1])
        // Without the setting, the compiler refuses the conformance.
        #expect(try Self.lines(Self.trap, "@MainActor \(delegate)").isEmpty)
        let preconcurrency = delegate.replacing("URLSessionTask", with: "@preconcurrency URLSessionTask")
        #expect(try Self.lines(Self.trap, "@MainActor \(preconcurrency)") == [1])
        let free = delegate.replacing("func", with: "nonisolated func")
        #expect(try Self.lines(Self.trap, free, settings: isolated).isEmpty)
        // The compiler makes `async` methods change to the actor.
        let suspending = delegate.replacing("T) {}", with: "T) async {}")
        #expect(try Self.lines(Self.trap, suspending, settings: isolated).isEmpty)
        let onMain = delegate + "; let s = URLSession(configuration: c, delegate: d, delegateQueue: .main)"
        #expect(try Self.lines(Self.trap, onMain, settings: isolated).isEmpty)
    }

    @Test("A wait that async code reaches is found with the path of calls")
    func waits() throws {
        let sources = [
            "a.swift": """
            class Store {
                func update() { Task { print(self.row()) } }
                private func row() -> Int { total() }
                private func total() -> Int { let g = DispatchGroup(); g.enter(); g.wait(); return 1 }
                func unused() { let g = DispatchGroup(); g.wait() }
                func onQueue() { DispatchQueue.global().async { self.unused() } }
            }
            """,
            "b.swift": """
            func runBlocking(_ body: @escaping () async -> Void) {
                let s = DispatchSemaphore(value: 0)
                Task { await body(); s.signal() }
                s.wait()
            }
            extension Store { func revoke() async { runBlocking { } } }
            actor Child { func run() { let p = Process(); p.waitUntilExit() } }
            """,
        ]
        let found = try Self.findings(sources).filter { $0.pattern.id == PoolAnalysis.pattern }
        #expect(found.map(\.line) == [4, 4, 7])
        #expect(
            found.map(\.context) == [
                "Store.update → Store.row → Store.total", "Store.revoke → runBlocking", "Child.run",
            ])
    }

    @Test("sync on a queue of another file is a wait, on a queue of this file that is a lock it is none")
    func queuesOfOtherFiles() throws {
        let sources = [
            "a.swift": "extension DispatchQueue { static let engine = DispatchQueue(label: \"e\") }",
            "b.swift": "func f() async { DispatchQueue.engine.sync { g() } }",
            "c.swift": "class A { let q = DispatchQueue(label: \"q\"); func f() async { q.sync { x = 1 } } }",
        ]
        let found = try Self.findings(sources).filter { $0.pattern.id == PoolAnalysis.pattern }
        #expect(found.map { ($0.path as NSString).lastPathComponent } == ["b.swift"])
    }

    @Test(
        "A wait outside of async code is no wait in the pool",
        arguments: [
            "func f() { let s = DispatchSemaphore(value: 0); s.wait() }",
            "func f() async { Thread.detachNewThread { Thread.sleep(forTimeInterval: 1) } }",
            "func f() async { DispatchQueue.global().async { group().wait(); sleep(1) } }",
            "actor A { nonisolated func f() { sleep(1) } }", "actor A { static func f() { sleep(1) } }",
            "class A { let q = DispatchQueue(label: \"q\"); func f() async { q.sync { x = 1 } } }",
            "class A { func f() { sleep(1) } }; class B { func f() {}; func g() async { f() } }",
        ])
    func noWaits(source: String) throws {
        #expect(try Self.lines(PoolAnalysis.pattern, source).isEmpty)
    }
}
