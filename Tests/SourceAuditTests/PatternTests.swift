import Testing

@testable import SourceAudit

@Suite("Patterns")
struct PatternTests {
    @Test("Is found where it is, and nowhere else", arguments: PatternExample.all.indices)
    func examples(place: Int) {
        let example = PatternExample.all[place]
        let path = example.isObjectiveC ? "Example.m" : "Example.swift"
        for source in example.has {
            let found = Example.findings(inSource: source, path: path).map(\.pattern.id)
            #expect(found.contains(example.id), "\(example.id) is not among \(found) in: \(source)")
        }
        for source in example.hasNot {
            let found = Example.findings(inSource: source, path: path).map(\.pattern.id)
            #expect(!found.contains(example.id), "\(example.id) is in: \(source)")
        }
    }

    @Test("Every pattern has examples of both kinds")
    func everyPatternHasExamples() {
        let shown = Set(PatternExample.all.map(\.id))
        for pattern in Patterns.all { #expect(shown.contains(pattern.id), "\(pattern.id) has no examples") }
        for example in PatternExample.all { #expect(!example.has.isEmpty && !example.hasNot.isEmpty, "\(example.id)") }
    }

    @Test("What a comment or a string says is no pattern")
    func commentsAndStrings() {
        let source = "// OperationQueue()\n/* DispatchSemaphore(value: 0) */ let s = \"NSLock() \\\"Thread { }\\\"\""
        #expect(Example.findings(inSource: source).isEmpty)
    }

    @Test("A condition of #if is told with its branch")
    func conditions() {
        let source = "#if os(Linux)\nlet a = NSLock()\n#else\nlet b = NSLock()\n#endif\nlet c = NSLock()"
        #expect(Example.findings(inSource: source).map(\.condition) == ["os(Linux)", "!(os(Linux))", ""])
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
