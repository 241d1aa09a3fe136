import TestSupport
import Testing

@testable import SourceAudit

@Suite("Names that have several meanings", .inTurns)
struct NameTests {
    private static func ids(_ source: String, path: String = "Example.swift") -> [String] {
        Example.findings(inSource: source, path: path).map(\.pattern.id)
    }

    private static func lines(_ id: String, _ source: String, path: String = "Example.swift") -> [Int] {
        Example.findings(inSource: source, path: path).filter { $0.pattern.id == id }.map(\.line)
    }

    @Test(
        "A nested type of the code base hides the system type of its name, in its own type only",
        arguments: [
            "class Work { class Operation { func cancel() {} }; var all: [Operation]; func f() { all[0].cancel() } }",
            "enum Cause { enum Thread { case main }; let thread: Thread }",
            "class Work { struct Operation {} }; extension Work { func f(_ o: Operation) { o.cancel() } }",
            "struct Work { actor Process {} }; func f(_ p: Work.Process) { p.waitUntilExit() }",
            "class Work { enum Timer { } }; func f() { Work.Timer() }",
            "class Other { var operation: Work.Operation? { x }; func f() { operation?.cancel() } }",
            "class Work { typealias Operation = @Sendable () async -> Void; func f(_ o: @escaping Operation) {} }",
        ])
    func nestedTypes(source: String) {
        #expect(Self.ids(source) == [])
        if source.contains("typealias") { return }
        #expect(Self.ids("\(source); let all: [Operation] = []") == ["operation-type"])
    }

    @Test("A nested type of another file hides the system type in extensions of its type")
    func nestedTypeOfAnotherFile() {
        let sources = [
            "A.swift": "class Work { class Operation {} }", "B.swift": "func f(_ o: Work.Operation) { o.cancel() }",
            "C.swift": "func f(_ o: Operation) { o.cancel() }",
        ]
        #expect(Example.findings(inSources: sources).map(\.path) == ["C.swift", "C.swift"])
    }

    @Test("A type at the top of a file hides the system type in its own module and where its module is imported")
    func typesAtTheTop() throws {
        let use = "func f(_ o: Operation) { o.cancel() }\n"
        let package = try Package(
            ["A.swift": use, "B.swift": "public class Operation { func cancel() {} }\nclass Own: Operation {}\n"],
            manifest: """
                // swift-tools-version: 6.0
                let package = Package(name: "App", targets: [
                    .target(name: "App"), .target(name: "Other"), .target(name: "User"), .testTarget(name: "UserTests"),
                ])
                """)
        try package.write(use + "class Sub: Operation { override func main() {} }\n", to: "Sources/Other/A.swift")
        try package.write("import App\n" + use + "func g(_ o: Foundation.Operation) {}\n", to: "Sources/User/A.swift")
        try package.write("private class Process { }\nfunc f() { Process() }\n", to: "Sources/User/B.swift")
        try package.write("func f() { let p = Process(); p.waitUntilExit() }\n", to: "Sources/User/C.swift")
        try package.write("class Thread { func start() {} }\n", to: "Sources/Other/Thread.swift")
        try package.write("@testable import Other\nfunc f(t: Thread) { t.start() }\n", to: "Tests/UserTests/A.swift")
        try package.write("import Other\nfunc f(t: Thread) { t.start() }\n", to: "Tests/UserTests/B.swift")
        var auditor = Auditor(paths: [package.path])
        auditor.usesIndex = false
        let found = auditor.result().findings.map { finding in
            let path = finding.path.dropFirst(package.path.count + 1).split(separator: "/").dropFirst()
            return "\(path.joined(separator: "/")):\(finding.line) \(finding.pattern.id)"
        }
        #expect(
            Set(found) == [
                "Other/A.swift:1 operation-type", "Other/A.swift:1 operation-cancel",
                "Other/A.swift:2 operation-subclass",
                "User/A.swift:3 operation-type", "User/C.swift:1 source-process", "UserTests/B.swift:2 thread-type",
                "UserTests/B.swift:2 thread-control",
            ])
    }

    @Test("Swift's names of system types are names of C++ in Objective-C")
    func namesOfCPlusPlus() {
        let source = "class Operation {}; Operation *o; Thread t(1); Timer timer; struct Process { int id; };"
        #expect(Self.ids(source, path: "a.h") == [])
        #expect(Self.ids("NSOperation *o;", path: "a.h") == ["objc-operation-type"])
    }

    @Test("A target is another queue, not nil and not a global queue")
    func targets() {
        let source = """
            let a = DispatchQueue(label: "a", target: b)
            let c = DispatchQueue(label: "c", target: nil)
            let d = DispatchQueue(label: "d", qos: .utility, target: .global())
            let e = DispatchQueue(label: "e", target: DispatchQueue.global(qos: .utility))
            a.setTarget(queue: c)
            a.setTarget(queue: .global())
            """
        #expect(Self.lines("dispatch-queue-target", source) == [1, 5])
        #expect(Self.lines("dispatch-label", source) == [6])
        let objectiveC = """
            dispatch_set_target_queue(a, b);
            dispatch_set_target_queue(a, dispatch_get_global_queue(0, 0));
            q = dispatch_queue_create_with_target("a", NULL, b);
            q = dispatch_queue_create_with_target("a", NULL, NULL);
            """
        #expect(Self.lines("objc-dispatch-queue-target", objectiveC, path: "a.m") == [1, 3])
        #expect(Self.lines("objc-dispatch-queue-serial", objectiveC, path: "a.m") == [4])
    }

    @Test(
        "The type of a source of C decides its pattern",
        arguments: [
            ("TIMER", "timer"), ("SIGNAL", "signal"), ("READ", "descriptor"), ("WRITE", "descriptor"),
            ("PROC", "process"), ("DATA_ADD", "custom"), ("DATA_OR", "custom"), ("VNODE", "other"),
            ("MEMORYPRESSURE", "other"),
        ])
    func sources(type: String, pattern: String) {
        let source = "s = dispatch_source_create(DISPATCH_SOURCE_TYPE_\(type), 0, 0, q);"
        #expect(Self.ids(source, path: "a.m") == ["objc-source-\(pattern)"])
    }

    @Test("waitUntilExit is a member of Process, not of a type of the code base")
    func waitUntilExit() {
        let own = "class Child { func waitUntilExit() async {} }; func f(_ c: Child) async { await c.waitUntilExit() }"
        #expect(!Self.ids(own).contains("source-process"))
        #expect(Self.ids("let p = Process(); p.waitUntilExit()").contains("source-process"))
        #expect(Self.ids("[task waitUntilExit];", path: "a.m") == ["objc-source-process"])
    }

    @Test("A name alone does not make an operation")
    func operationsByName() {
        let source = "view.completionBlock = { }; operation.start(); operation.cancel(); request.operation.cancel()"
        #expect(Self.ids("func f() { \(source) }") == [])
        let withQueue = "let q = OperationQueue(); func f() { operation.start() }"
        #expect(Self.ids(withQueue).contains("operation-start"))
    }

    @Test(
        "A function of C may be qualified by its module",
        arguments: ["Darwin.sleep(1)", "Glibc.usleep(1)", "sleep(1)", "Foundation.sleep(1)"])
    func qualifiedFunctions(source: String) {
        #expect(Self.ids(source) == ["thread-sleep"])
        #expect(Self.ids("clock.\(source.split(separator: ".").last!)") == [])
    }

    @Test("Static members and computed properties have the types that they state")
    func staticMembers() {
        let source = """
            extension DispatchQueue {
                static var a: DispatchQueue { made() }
                static let b = made()
            }
            class Owner { var q: DispatchQueue { x }; func f() { q.sync { g() } } }
            func f() {
                DispatchQueue.a.sync { g() }
                DispatchQueue.b.async { g() }
                DispatchQueue.elsewhere.async { g() }
            }
            """
        let found = Example.findings(inSource: source).filter {
            ["dispatch-sync", "dispatch-async"].contains($0.pattern.id)
        }
        #expect(found.map(\.line) == [5, 7, 8, 9])
        #expect(found.map(\.certainty) == [.certain, .certain, .likely, .likely])
    }

    @Test("An object that C suspends or resumes is a queue or a source, by its name")
    func suspension() {
        let source = "dispatch_activate(queue);\ndispatch_resume(self.timer);\ndispatch_suspend(_ioQueue);"
        #expect(
            Self.ids(source, path: "a.m") == ["objc-dispatch-suspend", "objc-source-handler", "objc-dispatch-suspend"])
    }

    @Test("A selector with an argument is not that of an operation")
    func selectors() {
        let source = """
            @interface Work : NSOperation
            @end
            @implementation Work
            - (BOOL)cancel:(id)token { [self cancel:token]; [self cancel]; return YES; }
            - (void)main { NSError *error = nil; }
            @end
            """
        #expect(Self.ids(source, path: "a.m") == ["objc-operation-subclass", "objc-operation-cancel"])
    }

    @Test("A closure that is empty waits for the queue, also behind a barrier")
    func emptyClosures() {
        let queue = "let d = DispatchQueue(label: \"d\", attributes: .concurrent); "
        #expect(Self.ids(queue + "d.sync(flags: .barrier) { }").last == "dispatch-sync-empty")
        #expect(Self.ids("dispatch_barrier_sync(queue, ^{});", path: "a.m") == ["objc-dispatch-sync-empty"])
        #expect(Self.ids("dispatch_barrier_sync(queue, ^{ f(); });", path: "a.m") == ["objc-dispatch-barrier-sync"])
    }

    @Test("A condition in parentheses has the type of its values, and a tuple has not")
    func conditionsInParentheses() {
        let queues = "class Q: OperationQueue {}; class A { let a: Q, b: Q; "
        #expect(Self.ids(queues + "func f(x: Bool) { (x ? a : b).addOperation(g) } }").last == "queue-add")
        #expect(
            Self.ids("class A { let a: OperationQueue; func f() { (b?.c ? d() : a).cancelAllOperations() } }").contains(
                "queue-cancel"))
    }

    @Test("An overload of a subclass is not the member of the system, also without self")
    func overloadsWithoutSelf() {
        let source = """
            class Work: Operation {
                func cancel(with error: Error) { super.cancel() }
                override func main() { cancel(with: E()); cancel() }
            }
            """
        #expect(Self.lines("operation-cancel", source) == [2, 3])
        #expect(Self.ids(source).filter { $0 == "operation-cancel" }.count == 2)
    }

    @Test("An open class of tests needs no Sendable")
    func openTestCases() {
        let source = "open class Base: XCTestCase { }\nopen class A: Base { var x = 1 }\nopen class B { var x = 1 }"
        #expect(Self.lines("checking-open-class", source) == [3])
    }

    @Test("A member of the current thread is found")
    func currentThread() {
        #expect(Self.ids("print(Thread.current.hash)") == ["thread-current"])
        #expect(Self.ids("print(Thread.current.description)") == ["thread-current"])
    }

    @Test("Locks between processes are found under each name")
    func processLocks() {
        let source = """
            let l = NSDistributedLock(path: "p")
            flock(file, LOCK_EX)
            fcntl(file, F_SETLK, &lock)
            let record = flock()
            fcntl(file, F_GETFL)
            """
        #expect(Self.lines("lock-distributed", source) == [1, 2, 3])
    }

    @Test("Priorities of operations are found as types and in Objective-C")
    func priorities() {
        #expect(Self.ids("func f(_ p: Operation.QueuePriority) {}") == ["operation-priority"])
        #expect(Self.ids("func f(_ p: Job.QueuePriority) {}") == [])
        let source = "NSOperation *o = [NSOperation new];\n[o setThreadPriority:0.5];\n[o setQualityOfService:q];"
        #expect(Self.lines("objc-operation-quality", source, path: "a.m") == [2, 3])
        #expect(Self.ids("[NSThread setThreadPriority:0.5];", path: "a.m") == ["objc-thread-priority"])
    }
}
