import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Rewrites of code that another queue calls", .inTurns)
struct IsolationRewriteTests {
    private static let isolated = """
        // swift-tools-version: 6.2
        let p = Package(name: "App", targets: [.target(name: "App", swiftSettings: [.defaultIsolation(MainActor.self)])])
        """

    /// The line of the call in the rewritten source, or the reason for leaving it.
    private static func rewritten(_ call: String, in type: String = "@MainActor final class A") throws -> String {
        let source = "import Foundation\n\(type) {\nfunc f() {\n\(call)\n}\n}\n"
        let fixes = try Package(["A.swift": source]).fixes()
        if let left = fixes.left.first { return left.reason }
        guard let file = fixes.files.first else { return "" }
        #expect(fixes.files.count == 1 && fixes.rewritten.count == 1)
        return String(decoding: file.new, as: UTF8.self).split(separator: "\n").dropFirst(3).dropLast(2)
            .joined(separator: "\n")
    }

    @Test(
        "A closure that leaves isolated state to blocks of the main actor becomes @Sendable",
        arguments: [
            "let i = DispatchWorkItem { /*+*/ }; q.async(execute: i)",
            "q.async(execute: DispatchWorkItem { /*+*/ Task { @MainActor in self.g() } })",
            "q.async(execute: DispatchWorkItem { /*[*/[weak self] in Task { @MainActor in self?.g() } })",
            "q.async(execute: DispatchWorkItem { /*[*/[weak self] in guard let self else { return }; Task { @MainActor in self.g() } })",
            "q.async(execute: DispatchWorkItem { /*[*/[weak self] in guard let self = self else { return }; DispatchQueue.main.async { self.g() } })",
            "q.async(execute: DispatchWorkItem { /*[*/[weak self] in DispatchQueue.main.async { [weak self] in self?.g() } })",
            "c.requestAuthorization(options: [.alert]) { /*[*/granted, error in if let error { print(error) }; Task { @MainActor in self.x = granted } }",
            "c.requestAuthorization(options: []) { /*[*/(granted: Bool, _: (any Error)?) -> Void in DispatchQueue.main.async { self.x = granted } }",
            "c.requestAuthorization(options: []) { /*+*/ print($0, $1 as Any) }",
            "c.getNotificationSettings { /*[*/settings in let isOn = settings.authorizationStatus == .authorized; Task { @MainActor in self.x = isOn } }",
            "BGTaskScheduler.shared.register(forTaskWithIdentifier: id, using: nil) { /*[*/task in task.setTaskCompleted(success: true) }",
            "Task { await withCheckedContinuation { c in group.notify(queue: q) { /*+*/ c.resume() } } }",
            "Task { await withCheckedContinuation { (c: CheckedContinuation<Bool, Never>) in r.requestAccess(for: .video) { /*[*/granted in c.resume(returning: granted) } } }",
        ])
    func closures(call: String) throws {
        let old = call.replacing("/*+*/ ", with: "").replacing("/*[*/", with: "")
        let new = call.replacing("/*+*/", with: "@Sendable in").replacing("/*[*/", with: "@Sendable ")
        #expect(try Self.rewritten(old) == new)
        #expect(try Self.rewritten(new) == "")
    }

    @Test(
        "A closure that may use isolated state is left, with the reason",
        arguments: [
            ("{ self.g() }", "self in line 4 may use isolated state"),
            ("{ g() }", "g in line 4 may use isolated state"),
            ("{ [weak self] in self?.g() }", "self in line 4 may use isolated state"),
            ("{ [weak self, weak view] in Task { @MainActor in self?.g() } }", "the closure captures view"),
            ("{ [weak self] in DispatchQueue.main.async { self?.g() } }", "self in line 4 is a captured variable"),
            ("{ list.forEach { print($0) } }", "may use isolated state"),
            ("{ Task { await g() } }", "Task in line 4 may use isolated state"),
            ("{ Task { @MainActor in super.f() } }", "super in line 4 may use isolated state"),
            ("{ var x = 1; x += 1 }", "var in line 4 may use isolated state"),
            ("{\n#if DEBUG\nprint(1)\n#endif\n}", "there is an #if"),
            ("{ UserDefaults.standard.set(1, forKey: k) }", "UserDefaults in line 4 may use isolated state"),
        ])
    func left(closure: String, reason: String) throws {
        #expect(try Self.rewritten("q.async(execute: DispatchWorkItem \(closure))").contains(reason))
    }

    @Test("A value or a type that may not be Sendable is left, with the reason")
    func notSendable() throws {
        let settings = "c.getNotificationSettings { settings in Task { @MainActor in self.x = settings } }"
        #expect(try Self.rewritten(settings) == "settings in line 4 may not be Sendable")
        let status = "c.getNotificationSettings { s in let t = s.other; Task { @MainActor in self.x = t } }"
        #expect(try Self.rewritten(status) == "t in line 4 may not be Sendable")
        let resumed =
            "Task { await withCheckedContinuation { c in n.getNotificationSettings { s in c.resume(returning: s) } } }"
        #expect(try Self.rewritten(resumed) == "c in line 4 passes a value that may not be Sendable")
        let own = "extension C { func requestAccess(_ f: (Y) -> Void) {} }; @MainActor final class A"
        let access = "c.requestAccess { y in Task { @MainActor in self.x = y } }"
        #expect(try Self.rewritten(access, in: own) == "y in line 4 may not be Sendable")
        let local = "let y = Y(); q.async(execute: DispatchWorkItem { Task { @MainActor in self.g(y) } })"
        #expect(try Self.rewritten(local) == "y in line 4 is a local variable that may not be Sendable")
        let block = "q.async(execute: DispatchWorkItem { Task { @MainActor in self.g() } })"
        for type in ["class B {}; @MainActor class A: B", "@MainActor class A: Unknown"] {
            #expect(try Self.rewritten(block, in: type).contains("may not be Sendable"), "\(type)")
        }
        for type in [
            "@MainActor class A: NSObject, P", "final class A: UIViewController",
            "@MainActor class A: ObservableObject",
        ] {
            #expect(try Self.rewritten(block, in: type).contains("@Sendable in"), "\(type)")
        }
        #expect(try Self.rewritten("performChanges({ f() }) { s, e in print(s) }").isEmpty)
        let changes = "p.performChanges({ f() }, completionHandler: { s, e in print(s) })"
        #expect(try Self.rewritten(changes) == "it can have two closures")
    }

    @Test("The methods of a delegate become nonisolated, all of a type or none")
    func delegates() throws {
        func source(_ body: String) -> String {
            """
            import Foundation
            final class A: NSObject, URLSessionTaskDelegate {
                var x = 0
                func urlSession(_ s: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                    \(body)
                }
                public func urlSession(_ s: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                    Task { @MainActor in self.x = data.count }
                }
                func urlSession(_ s: URLSession, task: URLSessionTask) async -> (Int, Int) { (x, x) }
                func other() { x = 1 }
            }

            """
        }
        let old = source("Task { @MainActor in self.x = error == nil ? 1 : 2 }")
        let package = try Package(["A.swift": old], manifest: Self.isolated)
        let fixes = package.fixes()
        let new = old.replacing(
            "func urlSession(_ s: URLSession, task: URLSessionTask, did",
            with: "nonisolated func urlSession(_ s: URLSession, task: URLSessionTask, did"
        )
        .replacing("public func", with: "public nonisolated func")
        #expect(fixes.files.map { String(decoding: $0.new, as: UTF8.self) } == [new])
        try package.write(new, to: "Sources/App/A.swift")
        #expect(package.fixes().files.isEmpty && package.fixes().left.isEmpty)
        let left = try Package(["A.swift": source("x = 2")], manifest: Self.isolated).fixes()
        #expect(left.files.isEmpty && left.left.map(\.reason) == ["x in line 5 may use isolated state"])
    }

    @Test("A file gets both a lock and @Sendable, and no import for the latter alone")
    func both() throws {
        let call = "q.async(execute: DispatchWorkItem { Task { @MainActor in self.g() } })"
        let source =
            "import Foundation\nprivate let lock = NSLock()\n@MainActor final class A { func f() { \(call) } }\n"
        let package = try Package(["A.swift": source])
        let text = try #require(package.fixes().files.first.map { String(decoding: $0.new, as: UTF8.self) })
        #expect(
            text.contains("Mutex(())") && text.contains("import Synchronization") && text.contains("{ @Sendable in"))
        // No system limits the attribute.
        let old = try Package(["A.swift": source], manifest: Package.oldManifest).fixes()
        #expect(old.rewritten.count == 1 && old.left.count == 1 && old.files.count == 1)
        #expect(
            String(decoding: old.files[0].new, as: UTF8.self)
                == source.replacing("Item { Task", with: "Item { @Sendable in Task"))
    }
}
