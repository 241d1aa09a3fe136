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
