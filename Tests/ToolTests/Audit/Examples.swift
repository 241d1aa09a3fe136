/// Sources that contain a pattern, and sources that look similar but do not contain it.
struct PatternExample {
    let id: String
    let has: [String]
    let hasNot: [String]
    /// Whether the sources are Objective-C.
    var isObjectiveC = false

    init(_ id: String, has: [String], hasNot: [String], isObjectiveC: Bool = false) {
        self.id = id
        self.has = has
        self.hasNot = hasNot
        self.isObjectiveC = isObjectiveC
    }

    static let all = operations + advanced + queues + dispatch + waits + threads + locks + others + types + objectiveC

    private static let operation = "let o = BlockOperation {}; "
    private static let queue = "let q = OperationQueue(); "
    private static let dispatchQueue = "let d = DispatchQueue(label: \"d\"); "

    private static let operations = [
        PatternExample(
            "operation-subclass",
            has: ["class A: Operation { override func main() {} }", "class A: Foundation.Operation {}"],
            hasNot: ["class A: Work { override func main() {} }", "class Operation {}; class A: Operation {}"]),
        PatternExample(
            "operation-subclass-asynchronous",
            has: [
                "class A: Operation { override func start() {} }",
                "class A: Operation { override var isFinished: Bool { x } }",
            ],
            hasNot: ["class A: Operation { override func main() {} }", "class A: Engine { override func start() {} }"]),
        PatternExample(
            "operation-state-machine",
            has: ["class A: Operation { enum State { case a }; override var isExecuting: Bool { x } }"],
            hasNot: [
                "class A: Operation { override var isExecuting: Bool { x } }", "class A { enum State { case a } }",
            ]),
        PatternExample(
            "operation-last",
            has: [
                "func f() { let a = BlockOperation {}; let b = BlockOperation {}; b.addDependency(a); b.waitUntilFinished() }",
                "func f(_ all: [Operation]) { let end = BlockOperation {}; for one in all { end.addDependency(one) } }",
                "func f(_ all: [Operation], _ end: Operation) { all.forEach { end.addDependency($0) } }",
            ],
            hasNot: [
                "func f(_ a: Operation, _ b: Operation) { b.addDependency(a) }",
                "func f(_ all: [Operation], _ first: Operation) { for one in all { one.addDependency(first) } }",
                "func f(_ a: Operation, _ b: Operation, _ c: Operation) { b.addDependency(a); c.addDependency(b); b.waitUntilFinished() }",
                "class Load: Operation {}; func f(_ all: [Operation], _ load: Load) { all.forEach { load.addDependency($0) } }",
            ]),
        PatternExample(
            "operation-conditions",
            has: ["class A: Operation { private(set) var conditions: [OperationCondition] = [] }"],
            hasNot: ["class A { var conditions: [C] = [] }", "class A: Operation { var condition = NSCondition() }"]),
        PatternExample(
            "operation-subclass-derived", has: ["class A: Operation {}; class B: A {}"],
            hasNot: ["class A: Operation {}", "class A {}; class B: A {}"]),
        PatternExample(
            "operation-subclass-generic", has: ["class A<T>: Operation {}"],
            hasNot: ["class A: Operation {}", "class A<T>: B {}"]),
        PatternExample(
            "operation-overrides-cancel", has: ["class A: Operation { override func cancel() {} }"],
            hasNot: ["class A: Operation { func cancelAll() {} }", "class A: B { override func cancel() {} }"]),
        PatternExample(
            "operation-overrides-cancelled",
            has: [
                "class A: Operation { override var isCancelled: Bool { state == .finished } }",
                "class A: Operation { override public var isCancelled: Bool { return state == .finished } }",
            ],
            hasNot: ["class A: Operation { var isStopped: Bool { isCancelled } }"]),
        PatternExample(
            "operation-overrides-dependencies",
            has: [
                """
                class A: Operation { override func addDependency(_ operation: Operation) {
                willChangeValue(forKey: "dependencies"); super.addDependency(operation); didChangeValue(forKey: "dependencies")
                } }
                """,
                "class A: Operation { override func removeDependency(_ operation: Operation) { super.removeDependency(operation) } }",
            ],
            hasNot: [
                "class A: Operation { func f() { addDependency(B()) } }",
                "class A: Graph { override func addDependency(_ node: Node) {} }",
            ]),
        PatternExample(
            "operation-archived",
            has: [
                "class A: Operation, NSCoding { required init?(coder: NSCoder) {} }",
                "class A: Operation, NSSecureCoding {}",
            ],
            hasNot: ["class A: Operation {}", "class A: NSObject, NSCoding {}"]),
        PatternExample(
            "operation-overrides-ready", has: ["class A: Operation { override var isReady: Bool { x } }"],
            hasNot: ["class A: Operation { var ready: Bool { x } }"]),
        PatternExample(
            "operation-overrides-completion",
            has: ["class A: Operation { override var completionBlock: (() -> Void)? { get { x } set {} } }"],
            hasNot: ["class A: Operation { func f() { completionBlock = {} } }"]),
        PatternExample(
            "operation-delegate", has: ["class A: Operation { weak var delegate: D? }"],
            hasNot: ["class A { weak var delegate: D? }"]),
        PatternExample(
            "operation-error-property", has: ["class A: Operation { var error: Error? }"],
            hasNot: ["class A { var error: Error? }", "class A: Operation { var code: Int = 0 }"]),
        PatternExample(
            "operation-input-property",
            has: ["class A: Operation {}; class B: Operation { let a: A; override func main() { show(a.result) } }"],
            hasNot: [
                "class A: Operation {}; class B { let a: A }",
                "class A: Operation {}; class B: Operation { let a: A; override func main() { a.cancel() } }",
                "class A: Operation { weak var parent: A?; func f() { show(parent?.result) } }",
            ]),
        PatternExample(
            "operation-releases", has: ["class A: Operation { var b: B?; override func main() { b = nil } }"],
            hasNot: ["class A: Operation { var b: B?; func f() { b = nil } }"]),
        PatternExample(
            "operation-throws-when-cancelled",
            has: ["class A: Operation { func f() throws { if isCancelled { throw E() } } }"],
            hasNot: ["class A: Operation { func f() { if isCancelled { return } } }"]),
        PatternExample(
            "operation-extension", has: ["extension Operation: P {}"],
            hasNot: ["extension Work: P {}", "class A: Operation {}; extension A: P {}"]),
        PatternExample(
            "operation-cast", has: ["class A: Operation {}; let a = x.dependencies.first as? A"],
            hasNot: ["class A {}; let a = x as? A"]),
        PatternExample(
            "operation-dependency-cycle",
            has: [
                "func f() { let a = BlockOperation(), b = BlockOperation(); a.addDependency(b); b.addDependency(a) }"
            ],
            hasNot: ["func f() { a.addDependency(b); b.addDependency(c) }"]),
        PatternExample(
            "operation-dependencies-across-queues",
            has: [
                "func f() { let a = BlockOperation(); let p = OperationQueue(); let q = OperationQueue(); a.addDependency(b); p.addOperation(a); q.addOperation(b) }"
            ],
            hasNot: [
                "func f() { let a = BlockOperation(); let p = OperationQueue(); a.addDependency(b); p.addOperation(a); p.addOperation(b) }"
            ]),
        PatternExample(
            "operation-graph",
            has: [
                "class A: Operation {}; class B: Operation {}; class C: Operation {}; func f(a: A, b: B, c: C) { b.addDependency(a); c.addDependency(b) }"
            ],
            hasNot: ["class A: Operation {}; func f(a: A, b: A, c: A) { b.addDependency(a); c.addDependency(b) }"]),
        PatternExample(
            "invocation-operation", has: ["let o = NSInvocationOperation(target: a, selector: s, object: nil)"],
            hasNot: ["let o = Invocation(target: a)"]),
        PatternExample(
            "block-operation",
            has: ["let o = BlockOperation { }", "let o = BlockOperation(block: f)", "let o: BlockOperation = .init()"],
            hasNot: ["let o: BlockOperation", "class BlockOperation {}; let o = BlockOperation()"]),
        PatternExample("operation-made", has: ["let o = Operation()"], hasNot: ["class A: Operation {}; let o = A()"]),
        PatternExample(
            "operation-many-blocks", has: [operation + "o.addExecutionBlock { }"],
            hasNot: [operation + "o.addBlock { }"]),
        PatternExample(
            "operation-dependency",
            has: [operation + "o.addDependency(p)", "func f(x: [Operation]) { x[0].removeDependency(y) }"],
            hasNot: ["class G { func addDependency(_ g: G) {} }; func f(g: G) { g.addDependency(g) }"]),
        PatternExample(
            "operation-dependencies", has: [operation + "print(o.dependencies)"], hasNot: ["package.dependencies"]),
        PatternExample(
            "operation-priority", has: [operation + "o.queuePriority = .high"], hasNot: [operation + "o.priority = 1"]),
        PatternExample(
            "operation-quality", has: [operation + "o.qualityOfService = .utility"],
            hasNot: [
                queue + "q.qualityOfService = .utility",
                "struct S { var qualityOfService: Int }; let s = S(qualityOfService: 1); s.qualityOfService",
            ]),
        PatternExample(
            "queue-quality", has: [queue + "q.qualityOfService = .utility"],
            hasNot: [operation + "o.qualityOfService = .utility"]),
        PatternExample(
            "operation-completion", has: [operation + "o.completionBlock = { }"],
            hasNot: ["class A { var completionBlock: Int = 0 }; let a = A(); a.completionBlock = 1"]),
        PatternExample("operation-cancel", has: [operation + "o.cancel()"], hasNot: ["let t = Task {}; t.cancel()"]),
        PatternExample("operation-start", has: [operation + "o.start()"], hasNot: ["let e = Engine(); e.start()"]),
        PatternExample(
            "operation-wait",
            has: [operation + "o.waitUntilFinished()", "for o in q.operations { o.waitUntilFinished() }"],
            hasNot: [
                "func waitUntilFinished() {}", "struct T { func waitUntilFinished() {} }; T().waitUntilFinished()",
            ]),
        PatternExample(
            "operation-asks-cancelled",
            has: ["class A: Operation { override func main() { if isCancelled { return } } }"],
            hasNot: ["class A { var isCancelled = false; func main() { if isCancelled { return } } }"]),
        PatternExample(
            "operation-state",
            has: [
                operation + "if o.isFinished { }", "let x = [BlockOperation()]; x.forEach { print($0.isExecuting) }",
            ],
            hasNot: ["let t = Task {}; if t.isCancelled { }"]),
        PatternExample(
            "operation-observed",
            has: [
                operation + "o.observe(\\.isFinished) { _, _ in }",
                "x.addObserver(self, forKeyPath: \"isFinished\", options: [], context: nil)",
            ],
            hasNot: ["x.addObserver(self, forKeyPath: \"frame\", options: [], context: nil)"]),
        PatternExample(
            "operation-name", has: [operation + "o.name = \"a\""], hasNot: ["let f = File(); f.name = \"a\""]),
    ]

    private static let queues = [
        PatternExample(
            "queue-subclass", has: ["class Q: OperationQueue { override func addOperation(_ o: Operation) {} }"],
            hasNot: ["class Q: Queue { override func addOperation(_ o: Operation) {} }"]),
        PatternExample(
            "queue-serial", has: [queue + "q.maxConcurrentOperationCount = 1"],
            hasNot: [
                queue + "q.maxConcurrentOperationCount = 10",
                "let q = TaskOperationQueue(); q.maxConcurrentOperationCount = 1",
            ]),
        PatternExample(
            "queue-pool", has: ["let pool = OperationQueue(); pool.maxConcurrentOperationCount = 5"],
            hasNot: [queue + "q.maxConcurrentOperationCount = 5"]),
        PatternExample(
            "queue-width", has: [queue + "q.maxConcurrentOperationCount = 4"],
            hasNot: [
                "let s = Settings(); s.maxConcurrentOperationCount = 4; struct Settings { var maxConcurrentOperationCount: Int }"
            ]),
        PatternExample(
            "queue-made",
            has: [
                "let q = OperationQueue()",
                "typealias Q = OperationQueue; let q = Q()",
            ],
            hasNot: [
                "func f(_ q: OperationQueue) {}", "let q = TaskOperationQueue()",
                "class Q: OperationQueue {}; let q = Q()",
            ]),
        PatternExample(
            "queue-add-many-sizes",
            has: ["func f() { " + queue + "for i in stride(from: 0, to: 9, by: 3) { q.addOperation { } } }"],
            hasNot: ["func f() { " + queue + "for i in 0..<9 { q.addOperation { } } }"]),
        PatternExample(
            "queue-add-batches", has: [queue + "for b in c { q.addOperations(b, waitUntilFinished: true) }"],
            hasNot: [queue + "q.addOperations(b, waitUntilFinished: true)"]),
        PatternExample(
            "queue-add-and-wait", has: [queue + "q.addOperations(b, waitUntilFinished: true)"],
            hasNot: [queue + "q.addOperations(b, waitUntilFinished: false)"]),
        PatternExample(
            "queue-add-block",
            has: [
                queue + "q.addOperation { }",
                "class A { let q = OperationQueue(); func f() { self.q.addOperation { } } }",
            ],
            hasNot: ["let q = TaskOperationQueue(); q.addOperation { }", queue + "q.addOperation(o)"]),
        PatternExample(
            "queue-add", has: [queue + "q.addOperation(o)", "OperationQueue.main.addOperation(o)"],
            hasNot: ["let q = TaskOperationQueue(); q.addOperation(o)"]),
        PatternExample(
            "queue-barrier", has: [queue + "q.addBarrierBlock { }"],
            hasNot: ["let q = TaskOperationQueue(); q.addBarrier { }"]),
        PatternExample(
            "queue-cancel", has: [queue + "q?.cancelAllOperations()"],
            hasNot: ["let q = TaskOperationQueue(); q.cancelAllOperations()"]),
        PatternExample(
            "queue-wait", has: [queue + "q.waitUntilAllOperationsAreFinished()"],
            hasNot: ["let q = TaskOperationQueue(); try await q.waitUntilAllOperationsAreFinished()"]),
        PatternExample(
            "queue-suspended", has: [queue + "q.isSuspended = true"], hasNot: ["let p = Player(); p.isSuspended = true"]
        ),
        PatternExample(
            "queue-progress", has: [queue + "q.progress.cancel()"], hasNot: ["let l = Loader(); l.progress.cancel()"]),
        PatternExample(
            "queue-current", has: ["let q = OperationQueue.current"], hasNot: ["let q = TaskOperationQueue.current"]),
        PatternExample(
            "queue-main", has: ["f(OperationQueue.main)"],
            hasNot: ["f(Bundle.main)", "OperationQueue.main.addOperation { }"]),
        PatternExample(
            "queue-operations", has: [queue + "print(q.operationCount)"], hasNot: ["print(list.operations)"]),
        PatternExample("queue-underlying", has: [queue + "q.underlyingQueue = d"], hasNot: [queue + "q.name = d"]),
        PatternExample("queue-name", has: [queue + "q.name = \"a\""], hasNot: ["let f = File(); f.name = \"a\""]),
        PatternExample("queue-scheduler", has: [queue + "q.schedule { }"], hasNot: ["let t = Table(); t.schedule { }"]),
    ]

    private static let dispatch = [
        PatternExample(
            "operation-overrides-priority",
            has: [
                "class A: Operation { override var queuePriority: QueuePriority { get { x } set {} } }",
                "class A: Operation { override var qualityOfService: QualityOfService { get { x } set {} } }",
            ],
            hasNot: ["class A: Operation { func f() { queuePriority = .high } }"]),
        PatternExample(
            "dispatch-barrier-sync", has: [dispatchQueue + "d.sync(flags: .barrier) { f() }"],
            hasNot: [dispatchQueue + "d.async(flags: .barrier) { }", dispatchQueue + "d.sync { }"]),
        PatternExample(
            "lock-cpp", has: ["std::mutex m;", "std::lock_guard<std::mutex> l(m);", "std::atomic<int> n;"],
            hasNot: ["mutex m;", "absl::mutex m;", "struct thread *t;"], isObjectiveC: true),
        PatternExample(
            "dispatch-queue-target", has: ["let d = DispatchQueue(label: \"a\", target: b)"],
            hasNot: ["let d = DispatchQueue(label: \"a\")"]),
        PatternExample(
            "dispatch-queue-readers",
            has: [
                "class A { let d = DispatchQueue(label: \"a\", attributes: .concurrent); func f() { d.async(flags: .barrier) { } }; var g: Int { d.sync { 1 } } }"
            ],
            hasNot: [
                "class A { let d = DispatchQueue(label: \"a\", attributes: .concurrent); func f() { d.async { } } }"
            ]),
        PatternExample(
            "dispatch-queue-concurrent", has: ["let d = DispatchQueue(label: \"a\", attributes: .concurrent)"],
            hasNot: ["let d = DispatchQueue(label: \"concurrent\")"]),
        PatternExample(
            "dispatch-queue-value",
            has: [
                "class A { let d = DispatchQueue(label: \"a\"); func f() { d.async { } }; var g: Int { d.sync { 1 } } }"
            ],
            hasNot: ["class A { let d = DispatchQueue(label: \"a\"); func f() { d.async { } } }"]),
        PatternExample(
            "dispatch-queue-lock",
            has: ["class A { let d = DispatchQueue(label: \"a\"); func f() { d.sync { x += 1 } } }"],
            hasNot: ["class A { let d = DispatchQueue(label: \"a\"); func f() { d.async { x += 1 } } }"]),
        PatternExample(
            "dispatch-queue-inactive", has: ["let d = DispatchQueue(label: \"a\", attributes: .initiallyInactive)"],
            hasNot: ["let d = DispatchQueue(label: \"a\")"]),
        PatternExample(
            "dispatch-queue-serial", has: ["let d = DispatchQueue(label: \"a\")"], hasNot: ["let d: DispatchQueue"]),
        PatternExample(
            "dispatch-barrier", has: [dispatchQueue + "d.async(flags: .barrier) { }"],
            hasNot: [dispatchQueue + "d.async { barrier() }"]),
        PatternExample(
            "dispatch-sync-own-queue",
            has: [
                "class A { let d = DispatchQueue(label: \"a\"); func f() { d.sync { d.sync { } } } }",
                "class A { let d = DispatchQueue(label: \"a\"); var g: Int { d.sync { 1 } }; func f() { d.sync { print(g) } } }",
            ],
            hasNot: [
                "class A { let d = DispatchQueue(label: \"a\"); let e = DispatchQueue(label: \"e\"); func f() { d.sync { e.sync { } } } }"
            ]),
        PatternExample(
            "dispatch-back-to-main", has: ["DispatchQueue.global().async { DispatchQueue.main.async { } }"],
            hasNot: ["DispatchQueue.main.async { }"]),
        PatternExample(
            "dispatch-main", has: ["DispatchQueue.main.async { }"], hasNot: ["DispatchQueue.global().async { }"]),
        PatternExample(
            "dispatch-main-sync", has: ["DispatchQueue.main.sync { f() }"], hasNot: [dispatchQueue + "d.sync { }"]),
        PatternExample(
            "dispatch-group-async", has: [dispatchQueue + "d.async(group: g) { }"],
            hasNot: [dispatchQueue + "d.async { f(group: g) }"]),
        PatternExample(
            "dispatch-global", has: ["DispatchQueue.global().async { }"], hasNot: ["DispatchQueue.main.async { }"]),
        PatternExample(
            "dispatch-after", has: [dispatchQueue + "d.asyncAfter(deadline: .now()) { }"],
            hasNot: ["clock.after(1) { }"]),
        PatternExample(
            "dispatch-async", has: [dispatchQueue + "d.async { }", "func f(_ d: DispatchQueue?) { d?.async { } }"],
            hasNot: ["let e = EventLoop(); e.async { }", "func f() async { }"]),
        PatternExample(
            "dispatch-sync", has: [dispatchQueue + "d.sync { f() }; d.async { }"],
            hasNot: ["let f = File(); f.sync { }"]),
        PatternExample("dispatch-global-queue", has: ["f(DispatchQueue.global())"], hasNot: ["f(Settings.global())"]),
        PatternExample(
            "dispatch-main-queue",
            has: ["f(DispatchQueue.main)", "let d: DispatchQueue = .main", "func f(q: DispatchQueue) {}; f(q: .main)"],
            hasNot: ["f(Bundle.main)", "DispatchQueue.main.async { }"]),
        PatternExample(
            "dispatch-apply", has: ["DispatchQueue.concurrentPerform(iterations: 9) { _ in }"],
            hasNot: ["concurrentPerform(over: 0..<9) { _ in }"]),
        PatternExample("dispatch-once", has: ["dispatch_once(&token) { }"], hasNot: ["once(&token) { }"]),
        PatternExample(
            "dispatch-suspend", has: [dispatchQueue + "d.suspend()"], hasNot: ["let t = URLSessionTask(); t.suspend()"]),
        PatternExample(
            "dispatch-specific",
            has: [dispatchQueue + "d.setSpecific(key: k, value: 1)", "DispatchQueue.getSpecific(key: k)"],
            hasNot: ["x.getSpecific(key: k)"]),
        PatternExample(
            "dispatch-precondition", has: ["dispatchPrecondition(condition: .onQueue(.main))"],
            hasNot: ["precondition(x)"]),
        PatternExample(
            "dispatch-io", has: ["let io = DispatchIO(type: .stream, fileDescriptor: 0, queue: d) { _ in }"],
            hasNot: ["let io = FileIO(0)"]),
        PatternExample(
            "dispatch-label", has: [dispatchQueue + "print(d.label)"], hasNot: ["let v = Cell(); print(v.label)"]),
        PatternExample(
            "group-made", has: ["let g = DispatchGroup()"], hasNot: ["let g: DispatchGroup", "let g = AsyncGroup()"]),
        PatternExample(
            "group-enter", has: ["let g = DispatchGroup(); g.enter()"], hasNot: ["let g = AsyncGroup(); g.enter()"]),
        PatternExample(
            "group-notify", has: ["let g = DispatchGroup(); g.notify(queue: .main) { }"], hasNot: ["center.notify(x)"]),
        PatternExample(
            "group-wait", has: ["let g = DispatchGroup(); g.wait()"], hasNot: ["let g = AsyncGroup(); await g.wait()"]),
    ]

    private static let waits = [
        PatternExample(
            "semaphore-lock",
            has: ["class A { let s = DispatchSemaphore(value: 1); func f() { s.wait(); x += 1; s.signal() } }"],
            hasNot: ["func f() { let s = DispatchSemaphore(value: 0); g { s.signal() }; s.wait() }"]),
        PatternExample(
            "semaphore-signal", has: ["func f() { let s = DispatchSemaphore(value: 0); g { s.signal() }; s.wait() }"],
            hasNot: ["let s = DispatchSemaphore(value: 3)"]),
        PatternExample(
            "semaphore-limit", has: ["func f() { let s = DispatchSemaphore(value: 3); s.wait(); g { s.signal() } }"],
            hasNot: ["let s = DispatchSemaphore(value: 0)"]),
        PatternExample(
            "semaphore-unknown", has: ["f(DispatchSemaphore(value: n))"], hasNot: ["f(DispatchSemaphore(value: 0))"]),
        PatternExample(
            "semaphore-lock-used",
            has: ["class A { let s = DispatchSemaphore(value: 1); func f() { s.wait(); s.signal() } }"],
            hasNot: ["func f() { let s = DispatchSemaphore(value: 0); s.wait() }"]),
        PatternExample(
            "semaphore-limit-used",
            has: ["func f() { let s = DispatchSemaphore(value: 3); s.wait(); g { s.signal() } }"],
            hasNot: ["func f() { let s = DispatchSemaphore(value: 0); s.wait() }"]),
        PatternExample(
            "semaphore-producer",
            has: ["func f() { let s = DispatchSemaphore(value: 3); for _ in a { s.wait(); g { s.signal() } } }"],
            hasNot: [
                "func f() { let s = DispatchSemaphore(value: 3); for _ in a { s.wait(); s.signal() } }",
                "func f() { let s = DispatchSemaphore(value: 3); s.wait(); g { s.signal() } }",
            ]),
        PatternExample(
            "semaphore-wait", has: ["func f(s: DispatchSemaphore) { s.wait() }"],
            hasNot: ["func f(s: Process) { s.wait() }"]),
        PatternExample(
            "semaphore-signalled", has: ["func f(s: DispatchSemaphore) { s.signal() }"],
            hasNot: ["func f(s: Siren) { s.signal() }"]),
        PatternExample(
            "semaphore-c", has: ["let s = dispatch_semaphore_create(1)"], hasNot: ["let s = semaphore_create(1)"]),
        PatternExample(
            "work-item-replaced",
            has: ["class A { var i: DispatchWorkItem?; func f() { i?.cancel(); i = DispatchWorkItem { } } }"],
            hasNot: ["func f() { let i = DispatchWorkItem { } }"]),
        PatternExample(
            "work-item-notify", has: ["let i = DispatchWorkItem { }; i.notify(queue: .main) { }"],
            hasNot: ["let i = Item(); i.notify()"]),
        PatternExample(
            "work-item-cancel", has: ["let i = DispatchWorkItem { }; i.cancel()"],
            hasNot: ["let i = Item(); i.cancel()"]),
        PatternExample(
            "work-item-perform", has: ["let i = DispatchWorkItem { }; i.perform()"],
            hasNot: ["let i = Item(); i.perform()"]),
        PatternExample("work-item", has: ["let i = DispatchWorkItem { }"], hasNot: ["let i: DispatchWorkItem"]),
        PatternExample(
            "source-timer", has: ["let t = DispatchSource.makeTimerSource()"],
            hasNot: ["let t = DispatchSource.timerEvents()"]),
        PatternExample(
            "source-signal", has: ["let t = DispatchSource.makeSignalSource(signal: 1)"],
            hasNot: ["let t = Source.makeSignalSource(signal: 1)"]),
        PatternExample(
            "source-descriptor", has: ["let t = DispatchSource.makeReadSource(fileDescriptor: 1)"],
            hasNot: ["let t = DispatchSource.readEvents(fileDescriptor: 1)"]),
        PatternExample(
            "source-process", has: ["let t = DispatchSource.makeProcessSource(identifier: 1)", "waitpid(1, &s, 0)"],
            hasNot: ["let waitpid = 1"]),
        PatternExample(
            "source-custom", has: ["let t = DispatchSource.makeUserDataAddSource()"],
            hasNot: ["let t = makeUserDataAddSource()"]),
        PatternExample(
            "source-other", has: ["let t = DispatchSource.makeMemoryPressureSource(eventMask: .all)"],
            hasNot: ["let t = Factory.makeMachSendSource()"]),
        PatternExample(
            "source-suspend", has: ["let t = DispatchSource.makeTimerSource(); t.suspend()"],
            hasNot: ["let t = Task(); t.suspend()"]),
        PatternExample(
            "source-schedule", has: ["let t = DispatchSource.makeTimerSource(); t.schedule(deadline: .now())"],
            hasNot: ["let t = Table(); t.schedule(deadline: 1)"]),
        PatternExample(
            "source-handler", has: ["func f(t: DispatchSourceTimer) { t.setEventHandler { } }"],
            hasNot: ["func f(t: Table) { t.setCancelHandler { } }"]),
    ]

    private static let threads = [
        PatternExample(
            "thread-subclass", has: ["class T: Thread { override func main() {} }"],
            hasNot: ["class T: Fiber { override func main() {} }"]),
        PatternExample(
            "thread-list",
            has: [
                "class A { let c = NSCondition(); var blocks: [() -> Void] = []; func f() { Thread { self.c.wait() }.start() } }"
            ],
            hasNot: [
                "class A { let c = NSCondition(); var blocks: [Int] = []; func f() { Thread { self.c.wait() }.start() } }",
                "class A { var blocks: [() -> Void] = []; func f() { Thread { self.g() }.start() } }",
            ]),
        PatternExample(
            "dispatch-callback",
            has: [
                "class A { let q = DispatchQueue(label: \"\"); var onEnd: ((Int) -> Void)?; func f() { q.async { self.onEnd?(1) } } }",
                "class A { let q = DispatchQueue(label: \"\"); var onEnd: @Sendable (Int) -> Void; func f() { q.async { [onEnd] in onEnd(1) } } }",
            ],
            hasNot: [
                "class A { var onEnd: () -> Void; func f() { onEnd() } }",
                "class A { var onEnd: () -> Void; func f() { DispatchQueue.main.async { self.onEnd() } } }",
                "class A { let q = DispatchQueue(label: \"\"); func f(_ done: () -> Void) { q.async { done() } } }",
            ]),
        PatternExample(
            "thread-worker",
            has: [
                "class W { let c = NSCondition(); init() { let t = Thread { }; t.start() }; func f() { c.lock(); c.wait(); c.unlock() } }"
            ],
            hasNot: ["class W { init() { let t = Thread { }; t.start() } }"]),
        PatternExample("thread-detach", has: ["Thread.detachNewThread { }"], hasNot: ["Task.detached { }"]),
        PatternExample(
            "thread-made", has: ["let t = Thread { }", "pthread_create(&t, nil, f, nil)"],
            hasNot: ["let t: Thread", "struct Thread {}; let t = Thread()"]),
        PatternExample(
            "thread-local", has: ["Thread.current.threadDictionary[\"a\"] = 1"],
            hasNot: ["request.dictionary[\"a\"] = 1"]),
        PatternExample("thread-priority", has: ["Thread.setThreadPriority(1)"], hasNot: ["Task.setThreadPriority(1)"]),
        PatternExample(
            "thread-sleep-until", has: ["Thread.sleep(until: turn)"], hasNot: ["Thread.sleep(forTimeInterval: 1)"]),
        PatternExample(
            "thread-sleep", has: ["Thread.sleep(forTimeInterval: 1)"],
            hasNot: ["try await Task.sleep(for: .seconds(1))"]),
        PatternExample("thread-main", has: ["if Thread.isMainThread { }"], hasNot: ["if isMainThread { }"]),
        PatternExample("thread-current", has: ["print(Thread.current)"], hasNot: ["print(Locale.current)"]),
        PatternExample(
            "thread-control", has: ["let t = Thread { }; t.start()"], hasNot: ["let t = Engine { }; t.start()"]),
        PatternExample(
            "perform-on-main",
            has: ["x.perform(#selector(f), onMainThread: true)", "x.performSelectorOnMainThread(s)"],
            hasNot: ["x.perform(f)"]),
        PatternExample(
            "perform-after-delay", has: ["x.perform(#selector(f), with: nil, afterDelay: 1)"],
            hasNot: ["x.perform(f, after: 1)"]),
        PatternExample(
            "perform-cancelled", has: ["NSObject.cancelPreviousPerformRequests(withTarget: self)"],
            hasNot: ["cancelPrevious()"]),
        PatternExample(
            "perform-on-thread", has: ["x.perform(#selector(f), on: t, with: nil, waitUntilDone: true)"],
            hasNot: ["x.perform(f, on: t)"]),
        PatternExample(
            "perform-in-background", has: ["x.performSelector(inBackground: s, with: nil)"],
            hasNot: ["x.inBackground(s)"]),
        PatternExample(
            "timer-rearmed",
            has: [
                "class A { var t: Timer?; func f() { t?.invalidate(); t = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in } } }"
            ],
            hasNot: [
                "class A { var t: Timer?; func f() { t = Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in } } }"
            ]),
        PatternExample(
            "timer", has: ["Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in }"],
            hasNot: ["class Timer {}; Timer()"]),
        PatternExample(
            "timer-control",
            has: [
                "func f(t: Timer) { t.invalidate() }",
                "Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] t in t.invalidate() }",
                "let t = Timer(timeInterval: 1, repeats: true, block: { t in t.invalidate() })",
            ],
            hasNot: ["func f(t: Session) { t.invalidate() }", "Session(repeats: true) { t in t.invalidate() }"]),
        PatternExample(
            "run-loop", has: ["RunLoop.current.run()", "CFRunLoopRun()"], hasNot: ["EventLoop.current.run()"]),
        PatternExample("run-loop-named", has: ["f(RunLoop.main)"], hasNot: ["f(Bundle.main)"]),
    ]

    private static let locks = [
        PatternExample(
            "lock-two-sections",
            has: [
                "class A { let l = NSLock(); func f() { if l.withLock({ x == 0 }) { return }; l.withLock { x -= 1 } } }"
            ],
            hasNot: ["class A { let l = NSLock(); func f() { l.withLock { x -= 1 } } }"]),
        PatternExample(
            "lock-cached",
            has: [
                "class A { let l = NSLock(); var v: Int { l.lock(); defer { l.unlock() }; if let c { return c }; c = 1; return 1 } }"
            ],
            hasNot: ["class A { let l = NSLock(); var v: Int { l.lock(); defer { l.unlock() }; return c } }"]),
        PatternExample(
            "lock-synchronized-function", has: ["let l = NSRecursiveLock()"], hasNot: ["let l: NSRecursiveLock"]),
        PatternExample(
            "lock-distributed",
            has: [
                "let l = NSDistributedLock(path: path)", "func f(_ l: NSDistributedLock) { if l.try() {} }",
                "func f(_ l: NSDistributedLock) { l.unlock() }",
            ],
            hasNot: ["let l = NSLock()", "let l = FileLock(path: path)"]),
        PatternExample("lock-made", has: ["let l = NSLock()"], hasNot: ["let l = Mutex(0)"]),
        PatternExample("lock-condition", has: ["let c = NSCondition()"], hasNot: ["let c = Condition()"]),
        PatternExample(
            "lock-condition-order", has: ["let c = NSConditionLock(condition: 1)"], hasNot: ["let c = NSCondition()"]),
        PatternExample(
            "lock-condition-in-order",
            has: ["class A { let c = NSCondition(); func f() { while next != n { c.wait() } } }"],
            hasNot: ["class A { let c = NSCondition(); func f() { while list.isEmpty { c.wait() } } }"]),
        PatternExample(
            "lock-allocated",
            has: [
                "let l = OSAllocatedUnfairLock(initialState: 0)", "let l: OSAllocatedUnfairLock<Int>",
                "func f(_ l: OSAllocatedUnfairLock<Void>) { l.lock() }",
            ],
            hasNot: ["let l = NSLock()", "let l = Mutex(0)"]),
        PatternExample(
            "lock-unfair", has: ["os_unfair_lock_lock(&l)", "let l = os_unfair_lock()"],
            hasNot: ["let l = Mutex(0)"]),
        PatternExample(
            "lock-pthread", has: ["pthread_mutex_lock(&m)", "var m = pthread_mutex_t()"], hasNot: ["mutex_lock(&m)"]),
        PatternExample("lock-synchronized", has: ["objc_sync_enter(self)"], hasNot: ["sync_enter(self)"]),
        PatternExample(
            "lock-without-defer", has: ["class A { let l = NSLock(); func f() { l.lock(); x(); l.unlock() } }"],
            hasNot: ["class A { let l = NSLock(); func f() { l.lock(); defer { l.unlock() }; x() } }"]),
        PatternExample(
            "lock-condition-used", has: ["let c = NSCondition(); c.broadcast()"],
            hasNot: ["let c = Radio(); c.broadcast()"]),
        PatternExample(
            "lock-used", has: ["let l = NSLock(); l.withLock { }"],
            hasNot: ["let l = Mutex(0); l.withLock { _ in }", "let d = Door(); d.lock()"]),
    ]

    private static let others = [
        PatternExample(
            "system-downloader", has: ["class A: Operation {}; class M { var running: [URL: A] = [:] }"],
            hasNot: ["class A: Operation {}; class M { var running: [A] = [] }"]),
        PatternExample(
            "system-queue-per-key",
            has: [
                "class M { var queues: [String: OperationQueue] = [:] }",
                "class M { let all: [Site.ID: OperationQueue] }",
            ],
            hasNot: [
                "class M { var queues: [OperationQueue] = [] }",
                "func f() { var queues: [String: OperationQueue] = [:] }",
            ]),
        PatternExample(
            "system-list-per-key",
            has: ["class M { var jobs: [String: [() -> Void]] = [:]; func f() { jobs[key]?.removeFirst()() } }"],
            hasNot: [
                "class M { var jobs: [() -> Void] = [] }", "class M { var handlers: [String: () -> Void] = [:] }",
                "class M { var handlers: [String: [() -> Void]] = [:] }",
                "class M { var handlers: [Int: [(Data) -> Void]] = [:]; func f() { handlers[1]?.removeFirst() } }",
            ]),
        PatternExample(
            "system-manager",
            has: [
                "class M { static let shared = M(); let all = DispatchGroup(); func f() { session.dataTask(with: u) } }"
            ],
            hasNot: [
                "class M { static let shared = M() }",
                "class M { static let shared = M(); func f() { session.dataTask(with: u) } }",
            ]),
        PatternExample(
            "system-sellers",
            has: ["func f() { for n in a { Thread.detachNewThread { while let t = office.sell() { g(t) } } } }"],
            hasNot: ["func f() { Thread.detachNewThread { while let t = office.sell() { g(t) } } }"]),
        PatternExample(
            "checking-result", has: ["class R {}; class A: Operation { var result: R? }"],
            hasNot: ["struct R {}; class A: Operation { var result: R? }"]),
        PatternExample(
            "checking-closure",
            has: [
                "class A: Operation { var f: (() -> Void)?; override func main() { f?() } }",
                "class A { let q = DispatchQueue(label: \"q\"); var f: () -> Void; func g() { q.async { self.f() } } }",
            ],
            hasNot: [
                "class A: Operation { var f: (@Sendable () -> Void)? = nil; let n: Int }".replacing(
                    "(@Sendable () -> Void)?", with: "Handler"), "struct S { var f: (() -> Void)? }",
                "class A: Operation { var f: (() -> Void)? }",
                "class A { let q = DispatchQueue(label: \"q\"); var f: () -> Void; func g() { DispatchQueue.main.async { self.f() } } }",
                "class A { let q = DispatchQueue(label: \"q\"); var f: () -> Void; func g() { q.async { DispatchQueue.main.async { self.f() } } } }",
            ]),
        PatternExample(
            "checking-isolated-callback",
            has: ["@MainActor class A { func f() { center.getNotificationSettings { _ in g() } } }"],
            hasNot: ["class A { func f() { center.getNotificationSettings { _ in g() } } }"]),
        PatternExample(
            "ported-blocking-pool", has: ["func f() async { group.wait() }", "Task { sleep(1) }"],
            hasNot: ["func f() { group.wait() }", "func f() async { await group.wait() }"]),
        PatternExample(
            "checking-static", has: ["class A { static var x = 1 }"],
            hasNot: [
                "class A { static let x = 1 }", "class A { nonisolated(unsafe) static var x = 1 }",
                "class A { static var x: Int { 1 } }", "@MainActor class A { static var x = 1 }",
            ]),
        PatternExample(
            "checking-global", has: ["var x = 1", "var x = if a { 1 } else { 2 }"],
            hasNot: [
                "let x = 1", "func f() { var x = 1 }", "var x: Int { 1 }", "var x = 1\nfor i in 1...2 { x += i }",
            ]),
        PatternExample(
            "checking-open-class", has: ["open class A { var x = 1 }"],
            hasNot: ["public class A { var x = 1 }", "open class A { let x = 1 }"]),
        PatternExample(
            "ported-await-on-width-1",
            has: [
                "let q = TaskOperationQueue(maxConcurrentOperationCount: 1); q.addOperation { let v = try await other.value }"
            ],
            hasNot: [
                "let q = TaskOperationQueue(maxConcurrentOperationCount: 4); q.addOperation { let v = try await other.value }"
            ]),
        PatternExample(
            "ported-blocking-body",
            has: ["let q = TaskOperationQueue(); q.addOperation { Thread.sleep(forTimeInterval: 1) }"],
            hasNot: [
                "let q = TaskOperationQueue(); q.addOperation { try await Task.sleep(for: .seconds(1)) }",
                "func f() { Thread.sleep(forTimeInterval: 1) }",
            ]),
        PatternExample(
            "ported-ignored-outcome",
            has: [
                ours + "q.addOperation { try f() }",
                ours + "q.addOperation(name: \"a\", retry: .immediate(maxAttempts: 3)) { throw E() }",
                ours + "func g() { q.addOperation { try await f() } }",
                ours + "func g() {\n h()\n q.addOperation {\n if a { try f() }\n }\n h()\n}",
                ours + "urls.forEach { url in q.addOperation { try f(url) } }",
                ours + "func g() { for url in urls { q.addOperation { try f(url) } } }",
                ours + "q.addOperation { do { try f() } catch { try g() } }",
                scope + "(failures: .ignore) { q in q.addOperation { try f() }; h() } }",
            ],
            hasNot: [
                "let q = TaskOperationQueue(); q.addOperation { try f() }",
                ours + "q.addOperation { f() }",
                ours + "_ = q.addOperation { try f() }",
                ours + "let o = q.addOperation { try f() }",
                ours + "func g() -> AnyTaskOperation { q.addOperation { try f() } }",
                ours
                    + "func g() -> AnyTaskOperation { if a { q.addOperation { try f() } } else { q.addOperation { try h() } } }",
                ours + "let o = if a { q.addOperation { try f() } } else { q.addOperation { try h() } }",
                ours + "let all = urls.map { url in q.addOperation { try f(url) } }",
                ours + "let all = urls.map { q.addOperation { [url = $0] in try f(url) } }",
                ours + "let n = try await q.addOperation { try f() }.value",
                ours + "q.addOperation { try f() }.addCompletionHandler { h() }",
                ours + "q.addOperation { try f() }\n    .addCompletionHandler { h() }",
                ours + "use(q.addOperation { try f() })",
                ours + "let all = [\n q.addOperation { try f() },\n q.addOperation { try f() }\n]",
                ours + "q.addOperation { do { try f() } catch { report(error) } }",
                ours + "q.addOperation { try? f() }",
                ours + "q.addOperation { Task { try f() } }",
                ours + "q.addOperation { try await Task.sleep(for: .seconds(1)); try Task.checkCancellation() }",
                ours + "q.addOperation { try f() }; Task { for await event in q.events { report(event) } }",
                "import TaskOperations; func g(_ group: Work) { group.addOperation { try f() } }",
                scope + " { q in q.addOperation { try f() }; h() } }",
                scope + "(failures: .collect) { q in for a in b { q.addOperation { try f(a) } }; h() } }",
            ]),
        PatternExample(
            "ported-bridged-queue", has: ["let q = BridgedOperationQueue()"], hasNot: ["let q = TaskOperationQueue()"]),
        PatternExample(
            "ported-blocking-wait", has: ["try leaf.waitUntilFinishedBlocking()"],
            hasNot: ["try await leaf.waitUntilFinished()"]),
        PatternExample(
            "ported-legacy-dependencies", has: ["q.addOperation(dependencies: [a.asTaskOperation]) { }"],
            hasNot: ["q.addOperation(dependencies: [a]) { }"]),
    ]

    /// Declares a queue of this library, in a file that imports the library.
    private static let ours = "import TaskOperations; let q = TaskOperationQueue(); "

    /// Begins a scope, in a file that imports the library.
    private static let scope = "import TaskOperations; func g() async throws { try await withTaskOperationQueue"

    private static let types = [
        PatternExample(
            "operation-type", has: ["func f(_ o: Operation) {}", "let all: [Foundation.Operation] = load()"],
            hasNot: [
                "class A: Operation {}", "let o = Operation()", "protocol P { associatedtype Operation }",
                "enum Operation {}; let o: Operation",
                "func f() { typealias Operation = () -> Void; let all: [Operation] }",
            ]),
        PatternExample(
            "queue-type", has: ["class A { let q: OperationQueue }"],
            hasNot: ["let q: OperationQueue = OperationQueue()", "let q = OperationQueue.main"]),
        PatternExample(
            "dispatch-type", has: ["class A { let q: DispatchQueue? }", "func f() -> Box<DispatchQueue> {}"],
            hasNot: ["let q: DispatchQueue = DispatchQueue(label: \"a\")", "DispatchQueue.main.async {}"]),
        PatternExample("group-type", has: ["func f(_ g: DispatchGroup) {}"], hasNot: ["let g = DispatchGroup()"]),
        PatternExample(
            "semaphore-type", has: ["let s: DispatchSemaphore"], hasNot: ["let s = DispatchSemaphore(value: 0)"]),
        PatternExample("work-item-type", has: ["var w: DispatchWorkItem?"], hasNot: ["let w = DispatchWorkItem {}"]),
        PatternExample("source-type", has: ["var s: DispatchSourceTimer?"], hasNot: ["var s: Source?"]),
        PatternExample(
            "thread-type", has: ["var t: Thread?"], hasNot: ["let t = Thread {}", "struct Thread {}; var t: Thread?"]),
        PatternExample("timer-type", has: ["var t: Timer?"], hasNot: ["let t = Timer()"]),
        PatternExample("lock-type", has: ["init(lock: NSLock) {}"], hasNot: ["let l: NSLock = NSLock()"]),
        PatternExample(
            "lock-atomic", has: ["OSAtomicIncrement32(&count)"], hasNot: ["increment(&count)"]),
        PatternExample(
            "dispatch-lock-used",
            has: ["class A { private let q = DispatchQueue(label: \"a\"); var x: Int { q.sync { y } } }"],
            hasNot: [
                "class A { let q = DispatchQueue(label: \"a\"); var x: Int { q.sync { y } }; func f() { q.async {} } }",
                "class A { let q = DispatchQueue(label: \"a\"); var x: Int { q.sync { y } }; func f() { give(q) } }",
                "class A { let q = DispatchQueue(label: \"a\"); var x: Int { q.sync { y } }; var z: DispatchQueue { q } }",
            ]),
        PatternExample(
            "dispatch-sync-empty", has: [dispatchQueue + "d.sync { }", dispatchQueue + "d.sync {}"],
            hasNot: [dispatchQueue + "d.sync { f() }; d.async { }", "file.sync { }"]),
        PatternExample(
            "dispatch-readers-used",
            has: [
                "class A { let q = DispatchQueue(label: \"a\", attributes: .concurrent); var x: Int { get { q.sync { y } } set { q.async(flags: .barrier) { y = newValue } } } }"
            ],
            hasNot: ["class A { let q = DispatchQueue(label: \"a\"); var x: Int { q.sync { y } } }"]),
        PatternExample(
            "dispatch-required",
            has: [
                "p.receive(on: DispatchQueue.main)", "p.debounce(for: 1, scheduler: RunLoop.main)",
                "center.addObserver(forName: n, object: nil, queue: .main) { _ in }",
                "func subscribe<S: Scheduler>(on: S) {}; p.subscribe(on: DispatchQueue.main)",
                "func addObserver(forName: N, queue: OperationQueue?) {}; c.addObserver(forName: n, queue: .main)",
                "let q = DispatchQueue(label: \"a\"); monitor.start(queue: q)",
                "URLSession(configuration: c, delegate: d, delegateQueue: OperationQueue())",
                "SCNetworkReachabilitySetDispatchQueue(r, DispatchQueue.main)", "let s: AnySchedulerOf<DispatchQueue>",
                "Timer.publish(every: 1, on: .main, in: .common)",
            ],
            hasNot: [
                "func start(queue: DispatchQueue) {}; start(queue: .main)", "DispatchQueue.main.async {}",
                "let q = DispatchQueue(label: \"a\"); monitor.start(queue: q); q.async {}",
            ]),
        PatternExample(
            "queue-limit-implied",
            has: [
                "class A: Operation { override func main() { let p = Process() } }",
                "let q = OperationQueue(); q.addOperation { let f = fopen(path, \"r\") }",
            ],
            hasNot: ["func f() { let p = Process() }", "let q = OperationQueue(); q.addOperation { show(path) }"]),
        PatternExample(
            "system-home-made-queue",
            has: [
                "class Q { let lock = NSLock(); var pending: [() -> Void] = []; func next() { pending.removeFirst()() } }",
                "class Q { let q = DispatchQueue(label: \"a\"); var all: [Operation] = []; func next() { all.popLast()?.start() } }",
            ],
            hasNot: [
                "class Q { let lock = NSLock(); var handlers: [() -> Void] = [] }",
                "class Q { let lock = NSLock(); var all: [(Data) -> Void] = []; func f() { all.removeFirst()(data) } }",
                "class Q { var pending: [() -> Void] = [] }",
            ]),
        PatternExample(
            "checking-unchecked", has: ["final class A: @unchecked Sendable {}"], hasNot: ["final class A: Sendable {}"]
        ),
        PatternExample(
            "checking-unsafe", has: ["nonisolated(unsafe) var x = 1"], hasNot: ["nonisolated func f() {}"]),
    ]

    private static let objectiveC = [
        PatternExample(
            "load-blocking",
            has: [
                "- (void)f { NSData *d = [NSData dataWithContentsOfURL:url]; }",
                "- (void)f { [NSURLConnection sendSynchronousRequest:request returningResponse:nil error:nil]; }",
            ],
            hasNot: ["- (void)f { NSData *d = [NSData dataWithContentsOfFile:path]; }"], isObjectiveC: true),
        PatternExample(
            "perform-cancelled",
            has: ["NSObject", "UIView", "A", "[self class]", "self.class"].map { receiver in
                "@implementation A\n- (void)f { [\(receiver) cancelPreviousPerformRequestsWithTarget:self]; }\n@end"
            },
            hasNot: ["@implementation A\n- (void)f { [self cancelPrevious]; }\n@end"], isObjectiveC: true),
        PatternExample(
            "perform-after-delay",
            has: ["- (void)f:(UILabel *)label { [label performSelector:@selector(g) withObject:nil afterDelay:1]; }"],
            hasNot: ["- (void)f:(UILabel *)label { [label performSelector:@selector(g) withObject:nil]; }"],
            isObjectiveC: true),
        PatternExample(
            "objc-queue-made", has: ["NSOperationQueue *q = [NSOperationQueue new];"],
            hasNot: ["NSOperationQueue *q = nil;"], isObjectiveC: true),
        PatternExample(
            "objc-operation-overrides-dependencies",
            has: [
                """
                @interface A : NSOperation
                @end
                @implementation A
                - (void)addDependency:(NSOperation *)operation {
                    [self willChangeValueForKey:@"dependencies"];
                    [super addDependency:operation];
                    [self didChangeValueForKey:@"dependencies"];
                }
                @end
                """
            ],
            hasNot: [
                "@interface A : NSObject\n@end\n@implementation A\n- (void)addDependency:(B *)b {}\n@end",
                "@interface A : NSOperation\n@end\n@implementation A\n- (void)f { [self addDependency:b]; }\n@end",
            ], isObjectiveC: true),
        PatternExample(
            "objc-operation-overrides-cancelled",
            has: [
                "@interface A : NSOperation\n@end\n@implementation A\n- (BOOL)isCancelled { return _state == AFinished; }\n@end"
            ],
            hasNot: ["@interface A : NSObject\n@end\n@implementation A\n- (BOOL)isCancelled { return NO; }\n@end"],
            isObjectiveC: true),
        PatternExample(
            "objc-operation-archived",
            has: [
                "@interface A : NSOperation <NSCoding>\n@end\n@implementation A\n- (void)encodeWithCoder:(NSCoder *)coder {}\n@end"
            ],
            hasNot: [
                "@interface A : NSObject\n@end\n@implementation A\n- (void)encodeWithCoder:(NSCoder *)coder {}\n@end"
            ],
            isObjectiveC: true),
        PatternExample(
            "objc-lock-used",
            has: [
                "- (void)f { NSLock *l; [l lock]; }",
                "@interface A : NSObject\n@property NSLock *lock;\n@end\n@implementation A\n- (void)f { [_lock lock]; }\n@end",
                "@implementation A {\n  NSRecursiveLock *_all;\n}\n- (void)f { [_all unlock]; }\n@end",
            ],
            hasNot: ["[door lock];", "std::mutex m; m.lock();", "NSLock *l; l.lock();"], isObjectiveC: true),
        PatternExample(
            "objc-lock-condition-used", has: ["- (void)f { NSCondition *c; [c wait]; }"], hasNot: ["[self wait];"],
            isObjectiveC: true),
        PatternExample(
            "objc-thread-control", has: ["- (void)f { NSThread *t = [[NSThread alloc] init]; [t start]; }"],
            hasNot: ["[engine start];"], isObjectiveC: true),
        PatternExample(
            "objc-operation-start", has: ["- (void)f { NSOperation *o; [o start]; }"], hasNot: ["[self start];"],
            isObjectiveC: true),
        PatternExample(
            "objc-block-operation", has: ["[NSBlockOperation blockOperationWithBlock:^{ }];"],
            hasNot: ["[Block blockOperationWithBlock:^{ }];"], isObjectiveC: true),
        PatternExample(
            "objc-run-loop", has: ["[[NSRunLoop currentRunLoop] runMode:m beforeDate:d];"],
            hasNot: ["[self runMode:m];"],
            isObjectiveC: true),
        PatternExample(
            "objc-run-loop-named", has: ["[NSRunLoop mainRunLoop]"], hasNot: ["[Loop mainRunLoop]"], isObjectiveC: true),
        PatternExample(
            "objc-lock-atomic", has: ["atomic_fetch_add(&count, 1);", "OSAtomicIncrement32Barrier(&count);"],
            hasNot: ["@property (atomic) int count;"], isObjectiveC: true),
        PatternExample(
            "objc-dispatch-required",
            has: [
                "[center addObserverForName:n object:nil queue:[NSOperationQueue mainQueue] usingBlock:b];",
                "[NSURLSession sessionWithConfiguration:c delegate:self delegateQueue:[[NSOperationQueue alloc] init]];",
            ],
            hasNot: ["[self runOnQueue:[NSOperationQueue mainQueue]];"], isObjectiveC: true),
        PatternExample(
            "objc-dispatch-queue-concurrent", has: ["dispatch_queue_create(\"a\", DISPATCH_QUEUE_CONCURRENT)"],
            hasNot: ["dispatch_queue_create(\"a\", DISPATCH_QUEUE_SERIAL)"], isObjectiveC: true),
        PatternExample(
            "objc-source-type", has: ["- (void)f {\n dispatch_source_t s = timer;\n dispatch_source_cancel(s);\n}"],
            hasNot: ["dispatch_source_cancel(timer);"], isObjectiveC: true),
        PatternExample(
            "objc-queue-type", has: ["@interface A\n@property (strong) NSOperationQueue *queue;\n@end"],
            hasNot: ["@class NSOperationQueue;", "NSOperationQueue *q = [NSOperationQueue new];"], isObjectiveC: true),
        PatternExample(
            "objc-queue-add-block", has: ["[q addOperationWithBlock:^{ }];"],
            hasNot: ["- (void)addOperationWithBlock:(id)b;"], isObjectiveC: true),
        PatternExample(
            "objc-queue-serial",
            has: [
                "NSOperationQueue *q; q.maxConcurrentOperationCount = 1;",
                "NSOperationQueue *q; [q setMaxConcurrentOperationCount:1];",
                "[self.queue setMaxConcurrentOperationCount:1];",
            ],
            hasNot: [
                "NSArray *q; q.count = 1;", "[q setMaxConcurrentOperationCount:10];",
                "[q setMaxConcurrentOperationCount:1 + n];",
            ], isObjectiveC: true),
        PatternExample(
            "objc-queue-width",
            has: ["[q setMaxConcurrentOperationCount:4];", "NSOperationQueue *q; q.maxConcurrentOperationCount = 4;"],
            hasNot: ["[q setMaxConcurrentOperationCount:1];"], isObjectiveC: true),
        PatternExample(
            "objc-operation-subclass", has: ["@interface A : NSOperation\n@end"],
            hasNot: ["@interface A : NSObject\n@end"],
            isObjectiveC: true),
        PatternExample(
            "objc-lock-made", has: ["NSLock *l = [[NSLock alloc] init];"], hasNot: ["NSLock *l;"], isObjectiveC: true),
        PatternExample(
            "objc-lock-synchronized", has: ["@synchronized (self) { }"], hasNot: ["[self synchronized];"],
            isObjectiveC: true
        ),
        PatternExample(
            "objc-dispatch-async", has: ["dispatch_async(q, ^{ });"], hasNot: ["my_async(q, ^{ });"], isObjectiveC: true
        ),
        PatternExample(
            "objc-perform-after-delay", has: ["[self performSelector:@selector(f) withObject:nil afterDelay:1];"],
            hasNot: ["[self performSelector:@selector(f)];"], isObjectiveC: true),
    ]
}
