import TestSupport
import Testing

@testable import SourceAudit

@Suite("Patterns", .inTurns)
struct PatternTests {
    @Test("Is found where it is, and nowhere else", arguments: PatternExample.all.indices)
    func examples(place: Int) {
        let example = PatternExample.all[place]
        let path = example.isObjectiveC ? "Example.m" : "Example.swift"
        let id = example.isObjectiveC && !example.id.hasPrefix("objc-") ? "objc-\(example.id)" : example.id
        for source in example.has {
            let found = Example.findings(inSource: source, path: path).map(\.pattern.id)
            #expect(found.contains(id), "\(example.id) is not among \(found) in: \(source)")
        }
        for source in example.hasNot {
            let found = Example.findings(inSource: source, path: path).map(\.pattern.id)
            #expect(!found.contains(id), "\(example.id) is in: \(source)")
        }
    }

    @Test("Every pattern has examples of both kinds")
    func everyPatternHasExamples() {
        let shown = Set(PatternExample.all.map(\.id))
        for pattern in Patterns.all { #expect(shown.contains(pattern.id), "\(pattern.id) has no examples") }
        for example in PatternExample.all { #expect(!example.has.isEmpty && !example.hasNot.isEmpty, "\(example.id)") }
    }

    @Test("Text of a comment or a string is no pattern")
    func commentsAndStrings() {
        let source = "// OperationQueue()\n/* DispatchSemaphore(value: 0) */ let s = \"NSLock() \\\"Thread { }\\\"\""
        #expect(Example.findings(inSource: source).isEmpty)
    }

    @Test("A condition of #if is told with its branch")
    func conditions() {
        let source = "#if os(Linux)\nlet a = NSLock()\n#else\nlet b = NSLock()\n#endif\nlet c = NSLock()"
        #expect(Example.findings(inSource: source).map(\.condition) == ["os(Linux)", "!(os(Linux))", ""])
    }

    @Test("Key paths, optionals, implicit members and labels tell a type")
    func hiddenTypes() {
        let source = """
            func ask(_ queue: OperationQueue) {}
            class Owner {
                let all: [Operation] = []
                func f(_ file: Int?) {
                    _ = all.filter(\\.isFinished)
                    let made = file.map { _ in BlockOperation { } }
                    made?.addDependency(all[0])
                    dispatchPrecondition(condition: .onQueue(.main))
                    ask(.main)
                    let (count, done) = ([1, 2].count, DispatchSemaphore(value: 0))
                    done.wait()
                    count.wait()
                }
                func g(_ body: () -> Void) {
                    guard case .some(let q) = self else { return }
                    q.async(execute: body)
                    q.async(body)
                }
            }
            """
        let other = "func ask(_ queue: RunLoop) {}"
        let found = Example.findings(inSources: ["A.swift": source, "B.swift": other])
        func lines(_ id: String) -> [Int] { found.filter { $0.pattern.id == id }.map(\.line) }
        #expect(lines("operation-state") == [5])
        #expect(lines("operation-dependency") == [7])
        #expect(lines("dispatch-precondition") == [8])
        #expect(lines("queue-main") == [9])
        #expect(lines("semaphore-wait") == [11])
        #expect(lines("dispatch-async") == [16])
    }

    @Test("Of two aliases of a name, as in branches of #if, that of a system type counts")
    func aliases() {
        let source = """
            #if os(Linux)
            typealias Scheduler = OperationQueue
            #else
            typealias Scheduler = Other.Queue
            #endif
            func f(_ scheduler: Scheduler) { scheduler.cancelAllOperations() }
            """
        let found = Example.findings(inSource: source)
        #expect(found.map(\.pattern.id) == ["queue-type", "queue-cancel"])
        #expect(found.map(\.certainty) == [.certain, .certain])
        let hidden = """
            protocol Scheduler { func cancelAllOperations() }
            func g(_ scheduler: Scheduler) { scheduler.cancelAllOperations() }
            """
        let both = Example.findings(inSources: ["A.swift": source, "B.swift": hidden])
        #expect(both.map(\.path) == ["A.swift", "A.swift"])
    }

    @Test("A member that a protocol of the code base adds to a system type is only likely")
    func protocolMembers() {
        let source = """
            protocol Scheduler { func cancelAllOperations() }
            extension OperationQueue: Scheduler {}
            let queue = OperationQueue()
            func f() { queue.cancelAllOperations(); queue.isSuspended = true }
            """
        let found = Example.findings(inSource: source).filter { $0.line == 4 }
        #expect(found.map(\.pattern.id) == ["queue-cancel", "queue-suspended"])
        #expect(found.map(\.certainty) == [.likely, .certain])
    }

    @Test(
        "The owner of a symbol is read out of its name",
        arguments: [
            ("Foundation.Operation.cancel() -> ()", SystemType.operation, false),
            ("Dispatch.DispatchQueue", .dispatchQueue, true),
            ("(extension in Dispatch):__C.OS_dispatch_queue.async() -> ()", .dispatchQueue, false),
            ("App.Work.isReady.getter : Swift.Bool", .operation, false),
            ("App.Work.(State in _12AB).isReady.getter : Swift.Bool", nil, false),
            ("App.Work.(Alias in _12AB)", nil, true), ("App.Work.State.isReady(App.Work.State) -> ()", nil, false),
            ("App.(Work in _12AB).(secret in _12AB) : Swift.Int", .operation, false),
            ("(extension in App):Foundation.OperationQueue.now : Swift.Int", .operationQueue, false),
            ("(extension in App):Foundation.OperationQueue.Stride.now : Swift.Int", nil, false),
        ])
    func owners(name: String, owner: SystemType?, isType: Bool) {
        let found = SymbolOwner.owner(ofDemangled: name) { $0 == "Work" ? .operation : nil }
        #expect(found.owner == owner && found.isType == isType)
    }

    @Test("Types are followed through files, bases, aliases, collections and closures")
    func types() {
        let sources = [
            "A.swift": "class Base: Operation {}\ntypealias Work = Base\nenum Event { case added(Work) }",
            "B.swift": """
            class Mine: Work {}
            class Owner {
                let all: [Mine] = []
                lazy var queue: OperationQueue = { let q = OperationQueue(); return q }()
                func next() -> Mine? { all.first }
                func f(_ event: Event) {
                    for one in all { one.cancel() }
                    all.filter { $0.isReady }.forEach { $0.cancel() }
                    next()?.cancel()
                    let made = names.map { name in Mine() }
                    made[0].cancel()
                    if case .added(let work) = event { work.cancel() }
                    self.queue.addOperation(made[0])
                }
            }
            """,
        ]
        let found = Example.findings(inSources: sources).filter { $0.path == "B.swift" }
        #expect(found.filter { $0.pattern.id == "operation-cancel" }.map(\.line) == [7, 8, 9, 11, 12])
        #expect(found.filter { $0.pattern.id == "queue-add" }.map(\.certainty) == [.certain])
        #expect(found.contains { $0.pattern.id == "operation-subclass-derived" })
    }
}
