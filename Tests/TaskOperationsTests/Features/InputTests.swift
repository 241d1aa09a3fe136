import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that need the values of others", .inTurns, .endsInTime)
struct InputTests {
    @Test("One, two or three inputs of different types arrive typed and in order")
    func inputsOfDifferentTypes() async throws {
        let queue = TaskOperationQueue()
        let number = queue.addOperation { 6 }
        let text = queue.addOperation { "seven" }
        let list = queue.addOperation { [1.5, 2.5] }
        let one = queue.addOperation(after: number) { @concurrent in $0 + 1 }
        let two = queue.addOperation(after: text, number) { @concurrent in "\($0) \($1)" }
        let three = queue.addOperation(after: number, text, list) { @concurrent number, text, list in
            (number, text, list.reduce(0, +))
        }
        #expect(try await one.value == 7)
        #expect(try await two.value == "seven 6")
        #expect(try await three.value == (6, "seven", 4))
        #expect(one.dependencies == [])
    }

    @Test("Functions isolated to the main actor get two inputs of which either is a tuple")
    @MainActor
    func tuples() async throws {
        let queue = TaskOperationQueue()
        let pair = queue.addOperation { (1, 2) }
        let text = queue.addOperation { "text" }
        let functions = Functions()
        #expect(try await queue.addOperation(after: pair, text, body: functions.pairFirst).value == "1 2 text")
        #expect(try await queue.addOperation(after: text, pair, body: functions.pairLast).value == "text 1 2")
        let closure = TaskOperation(after: text, pair) { @MainActor in functions.pairLast($0, $1) }
        try queue.addOperation(closure)
        #expect(try await closure.value == "text 1 2")
        let three = queue.addOperation(after: text, pair, pair) { await functions.threeInputs($0, $1, $2) }
        #expect(try await three.value == "text 1 2")
    }

    @MainActor
    private final class Functions {
        func pairFirst(_ pair: (Int, Int), _ text: String) -> String { "\(pair.0) \(pair.1) \(text)" }
        func pairLast(_ text: String, _ pair: (Int, Int)) -> String { "\(text) \(pair.0) \(pair.1)" }
        func threeInputs(_ text: String, _ pair: (Int, Int), _ other: (Int, Int)) -> String {
            "\(text) \(pair.0) \(other.1)"
        }
    }

    @Test("Inputs are dependencies, and more dependencies can be added to them")
    func inputsAreDependencies() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let input = queue.addOperation { 1 }
        let other = queue.addOperation { throw WorkFailed() }
        let operation = TaskOperation(dependencies: [other], after: input) { @concurrent in ($0, other.isFinished) }
        #expect(operation.dependencies == [input, other])
        try queue.addOperation(operation)
        queue.isSuspended = false
        #expect(try await operation.value == (1, true))
    }

    @Test("Where an input failed, the body does not run, and the error names the input and carries its error")
    func failedInput() async throws {
        let queue = TaskOperationQueue()
        let runs = Recorder<Bool>()
        let good = queue.addOperation(name: "good") { 1 }
        let bad = queue.addOperation(name: "bad") { () -> Int in throw WorkFailed(number: 9) }
        let operation = queue.addOperation(after: good, bad) { @concurrent _, _ in runs.record(true) }
        _ = await operation.result
        #expect(runs.events == [])
        let failed = operation.refusal?.failedDependency
        #expect(failed?.dependency == "bad")
        #expect(failed?.origin == "bad")
        #expect(failed?.error as? WorkFailed == WorkFailed(number: 9))
        #expect(!operation.isCancelled)
    }

    @Test("Every way to wait for an operation whose input failed throws the outcome, which names the input")
    func failedInputByEveryWait() async throws {
        let queue = TaskOperationQueue()
        let bad = queue.addOperation(name: "bad") { () -> Int in throw WorkFailed(number: 9) }
        let operation = queue.addOperation(after: bad) { @concurrent in $0 + 1 }
        let errors = Recorder<any Error>()
        do { _ = try await operation.value } catch { errors.record(error) }
        for outcome in [await operation.result, operation.outcome!] {
            if case .failure(let error) = outcome { errors.record(error) }
        }
        #expect(errors.events.count == 3)
        for error in errors.events {
            let failed = (error as? TaskOperationError)?.failedDependency
            #expect(failed?.dependency == "bad" && failed?.error as? WorkFailed == WorkFailed(number: 9), "\(error)")
        }
    }

    @Test("A failure that goes down a chain keeps its origin, and is not wrapped once for each step")
    func failureDownAChain() async throws {
        let queue = TaskOperationQueue()
        let first = queue.addOperation(name: "first") { () -> Int in throw WorkFailed(number: 3) }
        var last = first
        for number in 2...50 {
            last = queue.addOperation(name: "\(number)", after: last) { @concurrent in $0 + 1 }
        }
        _ = await last.result
        let failed = last.refusal?.failedDependency
        #expect(failed?.dependency == "49")
        #expect(failed?.origin == "first")
        #expect(failed?.error as? WorkFailed == WorkFailed(number: 3))
        #expect(
            last.refusal?.description == """
                Did not run, because "49" failed after "first": WorkFailed(number: 3). If the work should run even then, \
                use `dependencies:` instead of `after:`.
                """)
    }

    @Test("A dependency without a value does not pass failures on")
    func orderingPassesNoFailureOn() async throws {
        let queue = TaskOperationQueue()
        let bad = queue.addOperation { () -> Int in throw WorkFailed() }
        let between = queue.addOperation(dependencies: [bad]) { 5 }
        let last = queue.addOperation(after: between) { @concurrent in $0 + 1 }
        #expect(try await last.value == 6)
    }

    @Test("Inputs may be on other queues, finished before, or started by hand")
    func inputsFromAnywhere() async throws {
        let finished = TaskOperationQueue().addOperation { 1 }
        _ = try await finished.value
        let elsewhere = TaskOperationQueue(.init(isSuspended: true))
        let pending = elsewhere.addOperation { 2 }
        let byHand = TaskOperation { 4 }
        let sum = TaskOperationQueue().addOperation(after: finished, pending, byHand) { @concurrent in $0 + $1 + $2 }
        try byHand.start()
        elsewhere.isSuspended = false
        #expect(try await sum.value == 7)
    }

    @Test("The same operation may be an input twice")
    func sameInputTwice() async throws {
        let queue = TaskOperationQueue()
        let input = queue.addOperation { 21 }
        let sum = queue.addOperation(after: input, input) { @concurrent in $0 + $1 }
        #expect(try await sum.value == 42)
    }

    @Test("One that lost the dependency on its input, and starts before the end of that, fails, typed")
    func removedInput() async throws {
        let input = TaskOperation(name: "input") { 1 }
        let operation = TaskOperation(name: "needs it", after: input) { @concurrent in $0 + 1 }
        try operation.removeDependency(input)
        try TaskOperationQueue().addOperation(operation)
        let failure = await #expect(throws: TaskOperationError.self) { try await operation.value }
        guard case .notReady(let label, let missing) = failure else {
            Issue.record("it came to \(String(describing: failure))")
            return
        }
        #expect(label == OperationLabel(operation))
        #expect(missing.map(\.name) == ["input"])
    }
}

@Suite("Inputs that are added to an operation after its creation", .endsInTime)
struct AddedInputTests {
    private let queue = TaskOperationQueue(.init(isSuspended: true))

    /// An operation that joins the values of its inputs.
    private func joining(_ name: String) -> TaskOperation<String> {
        TaskOperation(name: name, after: [TaskOperation<String>]()) { name + $0.joined() }
    }

    @Test("A graph in any order passes values to each operation in the order of the inputs", .schedules(50))
    func graph() async throws {
        let edges = ["a": "bcd", "b": "d", "c": "bd", "d": "", "e": "a"]
        let operations = Dictionary(uniqueKeysWithValues: edges.keys.map { ($0, joining($0)) })
        for (name, inputs) in edges {
            for input in inputs { try operations[name]!.addInput(operations[String(input)]!) }
        }
        #expect(refusal { try operations["d"]!.addInput(operations["e"]!) }?.dependencyCycle?.first == "d")
        try queue.addOperations(Array(operations.values))
        queue.isSuspended = false
        #expect(try await operations["e"]!.value == "eabdcbddd")
    }

    @Test("An input can be added until the start, also to an operation in a queue", .schedules(50))
    func untilStart() async throws {
        let (early, late) = (queue.addOperation { "1" }, TaskOperation { "2" })
        let operation = joining("x")
        try operation.addDependency(early)
        try queue.addOperation(operation)
        try operation.addInput(early)
        try operation.addInput(late)
        try operation.addInput(early)
        #expect(operation.dependencies == [early, late])
        queue.isSuspended = false
        _ = try await early.value
        #expect(operation.state == .waiting)
        try late.start()
        #expect(try await operation.value == "x121")
        #expect(refusal { try operation.addInput(late) }?.alreadyStarted == "x")
    }

    @Test("An input that an executing operation refuses is not passed to the body", .schedules(20))
    func whileExecuting() async throws {
        let gate = Gate()
        let operation = TaskOperation<Int>(
            name: "x", [.retry(.immediately(attempts: 2))], after: [TaskOperation<Int>]()
        ) { values in
            await gate.pass()
            if RetryPolicy.attempt == 1 { throw WorkFailed() }
            return values.count
        }
        queue.isSuspended = false
        try queue.addOperation(operation)
        await gate.waitForArrivals(1)
        #expect(refusal { try operation.addInput(TaskOperation { 1 }) }?.alreadyStarted == "x")
        gate.open()
        #expect(try await operation.value == 0)
    }

    @Test("If an added input fails, the body does not run", .schedules(20))
    func failure() async throws {
        let failing = queue.addOperation(name: "failing") { () -> String in throw WorkFailed() }
        let operation = joining("x")
        try operation.addInput(failing)
        try queue.addOperation(operation)
        queue.isSuspended = false
        let error = await #expect(throws: TaskOperationError.self) { try await operation.value }
        guard case .dependencyFailed(let dependency, _, _)? = error else {
            Issue.record("the outcome differs")
            return
        }
        #expect(dependency.name == "failing")
    }

    @Test("An input that nothing else needs is cancelled with its request", .schedules(20))
    func unneeded() async throws {
        let (keyed, input) = (KeyedOperations<Int, String>(queue: queue), queue.addOperation { "1" })
        let request = keyed.request(1) {
            let operation = joining("x")
            try! operation.addInput(input)
            return operation
        }
        request.cancel()
        #expect(input.isCancelled)
        queue.isSuspended = false
    }

    @Test("Inputs are freed when the operation has finished, and when it is released")
    func freed() async throws {
        final class Value: Sendable {}
        let operation = TaskOperation<Int>(after: [TaskOperation<Value>]()) { $0.count }
        weak var (input, unused): (TaskOperation<Value>?, TaskOperation<Value>?)
        do {
            let (new, other) = (queue.addOperation { Value() }, TaskOperation { Value() })
            (input, unused) = (new, other)
            try operation.addInput(new)
            let released = TaskOperation<Int>(after: [TaskOperation<Value>]()) { $0.count }
            try released.addInput(other)
        }
        #expect(unused == nil)
        queue.isSuspended = false
        try queue.addOperation(operation)
        #expect(try await operation.value == 1)
        #expect(await eventually { input == nil })
    }

    @Test("A chain of 100,000 added inputs is freed without recursion")
    func chain() {
        var last = TaskOperation { 0 }
        for _ in 0..<100_000 {
            let next = TaskOperation<Int>(after: [TaskOperation<Int>]()) { $0[0] + 1 }
            try! next.addInput(last)
            last = next
        }
        #expect(last.dependencies.count == 1)
    }

    @Test("An input of another type stops the process with a message")
    func wrongType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let operation = TaskOperation<Int>(name: "sum", after: [TaskOperation<Int>]()) { $0.count }
            try operation.addInput(TaskOperation { "text" })
        }
        #expect(result.errorText.contains("\"sum\" takes no list of String"))
        let plain = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TaskOperation(name: "plain") {}.addInput(TaskOperation { "text" })
        }
        #expect(plain.errorText.contains("\"plain\" takes no list of String"))
    }
}
