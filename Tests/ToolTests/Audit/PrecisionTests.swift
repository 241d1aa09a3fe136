import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Code that looks like a pattern", .inTurns)
struct PrecisionTests {
    private static func ids(_ source: String, path: String = "Example.swift") -> [String] {
        Example.findings(inSource: source, path: path).map(\.pattern.id)
    }

    private static func lines(_ id: String, _ source: String) -> [Int] {
        Example.findings(inSource: source).filter { $0.pattern.id == id }.map(\.line)
    }

    @Test(
        "Nothing is found in what only has a name in common",
        arguments: [
            "import var Darwin.errno",
            "class A: Operation {}; func f(_ a: A) { a.addObserver(printer) }",
            "class Printer: ScreenObserver {}",
            "NSAppleEventManager.shared().setEventHandler(self, andSelector: s, forEventClass: c, andEventID: i)",
            "manager.setEventHandler(self, andSelector: #selector(f), forEventClass: c, andEventID: i)",
            "try await Task.sleep(nanoseconds: 1)", "try await sleep(nanoseconds: 1)",
            "func dispatchMain(_ f: () -> Void) {}; dispatchMain { }",
            "let token = progress?.observe(\\.isCancelled) { _, _ in }", "print(operation.name)",
        ])
    func names(source: String) {
        let found = Self.ids(source).filter { !$0.hasPrefix("operation-subclass") && $0 != "operation-type" }
        #expect(found.isEmpty)
    }

    @Test("An observer of operations is one where operations have observers")
    func observers() {
        let base = "class Work: Operation { func addObserver(_ o: WorkObserver) {} }\n"
        #expect(Self.ids(base + "struct A: WorkObserver {}").contains("advanced-observer"))
        #expect(!Self.ids(base + "struct A: ScreenObserver {}").contains("advanced-observer"))
        #expect(!Self.ids("class Work: Operation {}\nstruct A: WorkObserver {}").contains("advanced-observer"))
    }

    @Test("Key-value observing names a key path")
    func keyValueObserving() {
        let source = """
            func f(_ o: Operation) {
                o.addObserver(self, forKeyPath: "isFinished", options: [], context: nil)
                let token = o.observe(\\.isFinished) { _, _ in }
                o.addObserver(self)
            }
            """
        #expect(Self.lines("operation-observed", source) == [2, 3])
    }

    @Test("An overload that a subclass adds is not the system's")
    func overloads() {
        let source = """
            class Mine: OperationQueue { func addOperations(_ all: [Operation], withContext context: Int) {} }
            func f(_ q: Mine) {
                q.addOperations([], withContext: 1)
                q.addOperations([], waitUntilFinished: false)
            }
            """
        #expect(Self.lines("queue-add", source) == [4])
    }

    @Test("sync on the own queue is direct, not through another queue or a task")
    func syncOnOwnQueue() {
        let source = """
            class A {
                let q = DispatchQueue(label: "q"), r = DispatchQueue(label: "r")
                func f() {
                    q.async { self.q.sync {} }
                    q.async { self.r.async { self.q.sync {} } }
                    q.async { Task { self.q.sync {} } }
                    q.async { all.forEach { _ in self.q.sync {} } }
                }
            }
            """
        #expect(Self.lines("dispatch-sync-own-queue", source) == [4, 7])
    }

    @Test("sync on the own queue does not end on a serial queue of the same object, and beside a barrier")
    func excludingSync() {
        let source = """
            class A {
                let q = DispatchQueue(label: "q"), wide = DispatchQueue(label: "w", attributes: .concurrent)
                func f(_ other: A) {
                    wide.async { self.wide.sync {} }
                    wide.async(flags: .barrier) { self.wide.sync {} }
                    wide.async { self.wide.sync(flags: .barrier) {} }
                    q.async { other.q.sync {} }
                }
                func get() -> Int { q.sync { count } }
                func get(_ key: String) -> Int { count }
                func sum() -> Int { q.sync { get("a") } }
                func value() -> Int { q.sync { count } }
                func both() { q.async { print(self.value()) } }
                func later() { q.async { Task { self.value() } } }
                func safe() -> Int { isOnQueue ? count : q.sync { count } }
                func more() { q.async { self.safe() } }
            }
            """
        #expect(Self.lines("dispatch-sync-own-queue", source) == [5, 6, 13])
    }

    @Test("A call of a function with the name of a waiting member is no wait for a queue")
    func syncThroughMembers() {
        let source = """
            class A {
                let q = DispatchQueue(label: "q")
                func data() -> Int { q.sync { let data = 1; return data } }
                func more() -> Int { q.sync { self.data() } }
                let size = 0
                func size() -> Int { q.sync { 1 } }
                func sum() -> Int { q.sync { self.size + size } }
            }
            """
        #expect(Self.lines("dispatch-sync-own-queue", source) == [4])
    }

    @Test("The name of a variable does not make a queue the system's")
    func namesOfQueues() {
        let source = """
            class A {
                let operationQueue = OperationQueue()
                lazy var all: OperationQueue = { let delegateQueue = OperationQueue(); return delegateQueue }()
                init(_ other: A) {
                    self.operationQueue = OperationQueue()
                    other.operationQueue = OperationQueue()
                    unknown.operationQueue = OperationQueue()
                    let settings = Settings(delegateQueue: OperationQueue())
                }
            }
            struct Settings { var delegateQueue: OperationQueue }
            """
        #expect(Self.lines("queue-made", source) == [2, 3, 5, 6, 7, 8])
        #expect(Self.lines("dispatch-required", source) == [])
    }

    @Test("A queue that a system object keeps is required, with its settings")
    func requiredQueues() {
        let source = """
            class A: NSObject, NSFilePresenter {
                let presentedItemOperationQueue = OperationQueue()
                let query = NSMetadataQuery()
                func f() {
                    query.operationQueue = OperationQueue()
                    let queue = OperationQueue()
                    queue.maxConcurrentOperationCount = 1
                    queue.name = "session"
                    let session = URLSession(configuration: .default, delegate: self, delegateQueue: queue)
                    session.delegateQueue.maxConcurrentOperationCount = 2
                    session.delegateQueue.addOperation {}
                }
            }
            """
        let found = Example.findings(inSource: source)
        #expect(found.filter { $0.pattern.id == "dispatch-required" }.map(\.line) == [2, 5, 6])
        #expect(found.allSatisfy { $0.pattern.effort == .kept })
    }

    @Test("The lock of a condition changes with the condition, and counts once")
    func locksOfConditions() {
        let source = """
            class A {
                let condition = NSCondition()
                func f() {
                    condition.lock()
                    while isEmpty { condition.wait() }
                    condition.unlock()
                }
            }
            """
        let found = Example.findings(inSource: source)
        #expect(found.map(\.pattern.id) == ["lock-condition"] + [String](repeating: "lock-condition-used", count: 3))
    }

    @Test("A qualified name is no creation in a cast, a conformance or an extension, and no second finding")
    func qualifiedNames() {
        let source = """
            extension Foundation.Operation {}
            class A: Foundation.Operation {}
            func f(_ a: Any) {
                if let b = a as? Foundation.Operation {}
                if let b = a as? Operation {}
                if a is Foundation.Operation {}
                if let b = a as? A {}
                if let q = a as? OperationQueue {}
            }
            func g() -> Foundation.Operation { Foundation.Operation() }
            """
        #expect(Self.lines("operation-extension", source) == [1])
        #expect(Self.lines("operation-cast", source) == [7])
        #expect(Self.lines("operation-made", source) == [10])
        #expect(Self.lines("queue-made", source) == [])
        #expect(Self.lines("operation-type", source) == [4, 5, 6, 10])
    }

    @Test("A check and an action are two sections of one function, with a branch between them")
    func checkAndAction() {
        let source = """
            class A {
                let lock = NSLock()
                func both() {
                    if lock.withLock({ count > 0 }) { lock.withLock { count -= 1 } }
                }
                func neither() {
                    lock.withLock { first = 1 }
                    lock.withLock { second = 2 }
                }
                func checks() {
                    if lock.withLock({ count > 0 }) { lock.withLock { show(count) } }
                }
                func others() {
                    if lock.withLock({ first > 0 }) { lock.withLock { second = 1 } }
                }
            }
            """
        #expect(Self.lines("lock-two-sections", source) == [4])
    }

    @Test(
        "A call and what it is given are one finding",
        arguments: [
            ("group.notify(queue: .main) {}", "let group = DispatchGroup(); ", "group-notify", "Example.swift"),
            ("dispatchPrecondition(condition: .onQueue(.main))", "", "dispatch-precondition", "Example.swift"),
            ("DispatchQueue.global(qos: .utility).async {}", "", "dispatch-global", "Example.swift"),
            ("DispatchSource.makeTimerSource(queue: DispatchQueue.main)", "", "source-timer", "Example.swift"),
            ("dispatch_async(dispatch_get_main_queue(), ^{ });", "", "objc-dispatch-main", "Example.m"),
            ("[[NSRunLoop currentRunLoop] runUntilDate:d];", "", "objc-run-loop", "Example.m"),
            ("CFRunLoopStop(CFRunLoopGetCurrent());", "", "objc-run-loop", "Example.m"),
            ("let q = Own()", "class Own: OperationQueue {}; ", nil, "Example.swift"),
            ("dispatch_after(t, dispatch_get_main_queue(), ^{ });", "", "objc-dispatch-after", "Example.m"),
            ("dispatch_async(dispatch_get_global_queue(0, 0), ^{ });", "", "objc-dispatch-global", "Example.m"),
            (
                "func f() { lock.lock(); x = 1; lock.unlock() }", "let lock = NSLock(); ", "lock-without-defer",
                "Example.swift"
            ),
        ])
    func once(source: String, before: String, id: String?, path: String) {
        let found = Example.findings(inSource: before + source, path: path).filter { $0.column > before.utf8.count }
        #expect(found.map(\.pattern.id).filter { $0 != "lock-used" } == [id].compactMap(\.self))
        #expect(Set(found.map(\.column)).count == found.count)
    }

    @Test("An Objective-C operation is read where its methods are")
    func objectiveCOperation() {
        let sources = [
            "Work.h": "@interface Work : NSOperation\n- (void)start;\n@end",
            "Work.m": "@implementation Work\n- (void)start { }\n- (BOOL)isFinished { return YES; }\n@end",
            "Plain.h": "@interface Plain : NSOperation\n@end",
        ]
        let found = Example.findings(inSources: sources).map { "\($0.path) \($0.pattern.id)" }
        #expect(found == ["Plain.h objc-operation-subclass", "Work.m objc-operation-subclass-asynchronous"])
    }

    @Test("Objective-C leads to the page of its pattern, and names the page on wrapping and translating")
    func objectiveCRecipe() {
        let found = Example.findings(
            inSource: "@synchronized (self) { [NSThread sleepForTimeInterval:1]; }", path: "a.m")
        #expect(found.map(\.pattern.recipe) == ["Threads/objc_sync_enter", "Dispatch/asyncAfter"])
        #expect(found.allSatisfy { $0.pattern.effort == .translation })
        #expect(found.allSatisfy { $0.pattern.meaning.contains(Pattern.objectiveCRecipe) })
        let kept = "[center addObserverForName:n object:nil queue:[NSOperationQueue mainQueue] usingBlock:b];"
        let required = Example.findings(inSource: kept, path: "a.m")
        #expect(required.map(\.pattern.recipe) == ["Dispatch/SystemQueue"] && required[0].pattern.effort == .kept)
    }

    @Test("Branches of #if exclude those before them")
    func branches() {
        let source = "#if A\nNSLock()\n#elseif B\nNSLock()\n#else\nNSLock()\n#endif"
        #expect(
            Example.findings(inSource: source).map(\.condition) == ["A", "!(A) && B", "!(A) && !(B)"])
    }

    @Test("Operations are followed through labels, payloads, protocols and method references")
    func operations() {
        let source = """
            protocol Step: Operation {}
            enum Event { case added(BlockOperation) }
            class Chain: Operation {
                func follow(_ all: [Operation], _ step: Step) {
                    all.forEach(addDependency)
                    step.cancel()
                }
            }
            func f(_ event: Event) {
                run(label: BlockOperation { })
                if case .added(let one) = event { one.cancel() }
            }
            """
        #expect(Self.lines("operation-dependency", source) == [5])
        #expect(Self.lines("operation-cancel", source) == [6, 11])
        #expect(Self.lines("block-operation", source) == [10])
    }

    @Test("Calls that block a thread are found under every name")
    func blocking() {
        let source = "usleep(5)\nsleep(1)\nprocess.waitUntilExit()\nasleep(1)"
        #expect(Self.lines("thread-sleep", source) == [1, 2])
        #expect(Self.lines("source-process", source) == [3])
    }

    @Test("A work item is replaced if the one before is cancelled, not if it is cancelled itself")
    func replacedWorkItems() {
        let source = """
            class A {
                var item: DispatchWorkItem?
                func f() {
                    item?.cancel()
                    item = DispatchWorkItem { }
                }
                func g() {
                    let item = DispatchWorkItem { }
                    if item.wait(timeout: .now()) == .timedOut { item.cancel() }
                }
            }
            """
        #expect(Self.lines("work-item-replaced", source) == [5])
    }

    @Test("The surrounding queue decides whether a call returns to the main queue")
    func backToMain() {
        let source = """
            DispatchQueue.global().async {
                DispatchQueue.main.async {
                    DispatchQueue.main.async { }
                }
            }
            """
        #expect(Self.lines("dispatch-back-to-main", source) == [2])
        #expect(Self.lines("dispatch-main", source) == [3])
    }

    @Test("Functions of C are found beside methods of their name, and not where one is declared")
    func functionsOfC() {
        let source = "class Clock { func sleep(_ n: Int) { sleep(1) } }\nclass A { func f() { sleep(2) } }"
        #expect(Self.lines("thread-sleep", source) == [2])
        let perform = "func perform(_ f: () -> Void) {}\nperform(#selector(g), with: self, afterDelay: 1)"
        #expect(Self.lines("perform-after-delay", perform) == [2])
    }

    @Test("A block of Objective-C is no work item, and a message to another class no operation's")
    func blocks() {
        #expect(Self.ids("[CATransaction setCompletionBlock:^{ }];", path: "a.m").isEmpty)
        #expect(Self.ids("- (void)f:(BFTask *)task { [task waitUntilFinished]; }", path: "a.m").isEmpty)
        let other = Self.ids("- (void)f:(HTTPOperation *)work { [work waitUntilFinished]; }", path: "a.m")
        #expect(other == ["objc-operation-wait"])
        #expect(Self.ids("- (void)f:(dispatch_block_t)block { block(); }", path: "a.m").isEmpty)
    }

    // MARK: Checking

    @Test(
        "What something isolates or wraps is no global",
        arguments: [
            ("@MainActor class Base {}; class A: Base { static var x = 1 }", 0),
            ("@MainActor protocol P {}; struct A: P { static var x = 1 }", 0),
            ("@MainActor extension A { static var x = 1 }", 0), ("class A: UIViewController { static var x = 1 }", 0),
            ("struct A: View { static var x = 1 }", 0), ("enum A { @TaskLocal static var x = 1 }", 0),
            ("enum A { @Entry static var x = 1 }", 0), ("enum A { @objc static var x = 1 }", 1),
            ("enum A { static var x = 1 }", 1), ("enum A { static func f(for a: B) {}; static var x: Int { 1 } }", 0),
            ("@Wrapped var x = 1", 0), ("var x = 1", 1),
        ])
    func guarded(source: String, count: Int) {
        #expect(Self.ids(source).filter { $0.hasPrefix("checking") }.count == count)
    }

    @Test("The variables of a script are isolated to the main actor")
    func scripts() {
        #expect(Self.ids("var x = 1", path: "tool/main.swift").isEmpty)
        #expect(Self.ids("var x = 1", path: "A.playground/Contents.swift").isEmpty)
        #expect(Self.ids("#!/usr/bin/swift\nvar x = 1").isEmpty)
        #expect(Self.ids("import PackageDescription\nvar x = 1", path: "Package@swift-6.0.swift").isEmpty)
        #expect(Self.ids("open class A { static let x = 1; static var y: Int { 1 } }").isEmpty)
        #expect(Self.ids("open class A: BaseView { @IBOutlet var label: Label!; var x = 1 }").isEmpty)
    }

    @Test("Targets in the language mode 6 are checked by the compiler")
    func languageModes() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String, _ path: String) throws {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let old = ".target(name: \"Old\", swiftSettings: [.swiftLanguageMode(.v5)])"
        try write(
            "// swift-tools-version: 6.0\nlet p = Package(targets: [.target(name: \"New\"), \(old)])", "P/Package.swift"
        )
        try write("var x = 1", "P/Sources/New/a.swift")
        try write("var x = 1", "P/Sources/Old/a.swift")
        try write("SWIFT_VERSION = 5.0;", "X/X.xcodeproj/project.pbxproj")
        try write("var x = 1", "X/App/a.swift")
        let found = Auditor(paths: [folder.path]).result().findings
        let paths = found.map { $0.path.components(separatedBy: "/").suffix(2).joined(separator: "/") }
        #expect(paths.sorted() == ["App/a.swift", "Old/a.swift"])
    }

    @Test("Work for strict checking is counted with everything else")
    func totals() throws {
        func report(_ sources: [String: String]) throws -> Report {
            let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (name, text) in sources {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            return Auditor(paths: [folder.path]).run()
        }
        let both = try report(["a.swift": "var x = 1", "b.swift": "let l = NSLock()"])
        #expect(both.findings.count == 2 && both.summary.sites == 2 && both.summary.checkingSites == 1)
        #expect(try report(["a.swift": "var x = 1"]).summary.sites == 1)
    }

    @Test("Sources in UTF-16 and binary files are named; bundles of documentation are passed over")
    func unreadSources() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = folder.appending(path: "Guide.docc")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try "let l = NSLock()".write(to: bundle.appending(path: "a.swift"), atomically: true, encoding: .utf8)
        try "let l = NSLock()".write(to: folder.appending(path: "b.swift"), atomically: true, encoding: .utf16)
        try Data([1, 0, 2]).write(to: folder.appending(path: "c.h"))
        let result = Auditor(paths: [folder.path]).result()
        #expect(result.findings.isEmpty)
        #expect(result.notes.map(\.message).sorted() == [FileWalk.utf16File, FileWalk.binaryFile])
    }
}
