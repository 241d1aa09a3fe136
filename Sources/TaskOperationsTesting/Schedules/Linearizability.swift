internal import Synchronization
internal import TaskOperations

extension Schedules {
    /// Calls of an object, by the text that describes each call in a failure.
    ///
    /// Results are compared by `==` if their type is `Equatable`, and otherwise by their descriptions.
    public typealias Calls<Object> = KeyValuePairs<String, @Sendable (Object) async throws -> any Sendable>

    /// Runs calls of an object at once, and fails if their results fit no order in which the calls run one after another.
    ///
    /// ```swift
    /// try Schedules().linearizable(
    ///     { Account(balance: 100) },
    ///     calls: ["withdraw(60)": { await $0.withdraw(60) }, "balance": { await $0.balance }])
    /// ```
    ///
    /// The object needs no specification: the results of calls that run one after another on a new object count as right.
    /// An actor that checks a condition, awaits, and then relies on the condition fails.
    ///
    /// Small programs are generated: pairs of calls, then up to three tasks with up to three calls each. Each runs under
    /// some schedules. A failing program is reduced, and so is its schedule. A call that does not return within an hour of
    /// virtual time waits; it may be resumed by a later call. Faults of the environment are not caused. Like
    /// ``run(_:)``, the function blocks the calling thread.
    ///
    /// The condition is that of M. Herlihy and J. Wing, "Linearizability: A Correctness Condition for Concurrent Objects",
    /// TOPLAS 1990. A program of *n* calls has up to *n*! orders.
    ///
    /// - Parameters:
    ///   - create: Creates an object. All objects must behave equally; ``generator()`` gives random numbers.
    ///   - calls: The calls. At least 1.
    ///   - tasks: The only program, as the descriptions of the calls of each task. A failure names its program. Empty for
    ///     generated ones.
    /// - Returns: The number of schedules that were run.
    /// - Throws: `ScheduleFailure` if the results fit no order, or if `create` throws an error.
    @discardableResult
    public func linearizable<Object: Sendable>(
        _ create: @escaping @Sendable () async throws -> Object, calls: Calls<Object>, tasks: [[String]] = []
    ) throws -> ScheduleSummary {
        require(!calls.isEmpty, "calls is empty; it must contain a call.")
        let object = CalledObject(create: create, names: calls.map(\.key), calls: calls.map(\.value))
        let program = tasks.map { $0.map { name in object.index(of: name) } }
        var programs = CallPrograms(calls: calls.count)
        var settings = self
        (settings.faults, settings.leaks) = ([], .note)
        // Most faults need few schedules. The other ones are better spent on other programs.
        if tasks.isEmpty { settings.count = min(count, 20) }
        let number = tasks.isEmpty ? max(count / settings.count, 1) : 1
        for _ in 0..<number {
            let program = tasks.isEmpty ? programs.next() : program
            if let failure = try settings.failure(of: program, object) {
                throw tasks.isEmpty ? try settings.reduced(failure, of: program, object) : failure
            }
        }
        return ScheduleSummary(
            count: number * settings.count, orderCount: nil, isComplete: false, notes: [], repetition: nil)
    }

    /// Runs a program under schedules. Returns its failure; nil if it has none.
    private func failure<Object>(of program: CallProgram, _ object: CalledObject<Object>) throws -> ScheduleFailure? {
        var usual = Schedules(1)
        (usual.obeysEnvironment, usual.forks) = (false, forks)
        let orders = Shared<[CallHistory]>([])
        try usual.run {
            let found = try await object.orders(of: program)
            orders.withLock { $0 = found }
        }
        let allowed = orders.withLock { $0 }
        let mismatch = Shared<String?>(nil)
        let exploration = Exploration(
            self,
            takeFailures: {
                mismatch.withLock { $0.take() }.map { [RecordedFailure(text: $0, place: "results")] } ?? []
            }
        ) {
            let history = try await object.runAtOnce(program)
            let text = history.mismatch(with: allowed, object.names)
            mismatch.withLock { $0 = text }
        }
        do {
            try run(exploration)
            return nil
        } catch let failure as ScheduleFailure {
            return failure
        }
    }

    /// Leaves out the calls that a failure does not need.
    private func reduced<Object>(
        _ failure: ScheduleFailure, of program: CallProgram, _ object: CalledObject<Object>
    ) throws -> ScheduleFailure {
        var (failure, program, settings) = (failure, program, self)
        settings.count = max(count, 100)
        var index = 0
        while index < program.joined().count, program.joined().count > 1 {
            let shorter = program.without(index)
            if let other = try settings.failure(of: shorter, object), other.isAboutResults == failure.isAboutResults {
                (failure, program) = (other, shorter)
            } else {
                index += 1
            }
        }
        return failure
    }
}

extension ScheduleFailure {
    fileprivate var isAboutResults: Bool { if case .recorded = cause { true } else { false } }
}

// MARK: - Programs

/// The calls of each task, as positions among the calls of the object.
private typealias CallProgram = [[Int]]

extension CallProgram {
    /// The program without one call, which is counted through all tasks.
    fileprivate func without(_ index: Int) -> Self {
        var (rest, program) = (index, self)
        for task in indices {
            if rest < program[task].count {
                program[task].remove(at: rest)
                break
            }
            rest -= program[task].count
        }
        return program.filter { !$0.isEmpty }
    }
}

/// Generates programs: first all pairs of calls, then random ones.
private struct CallPrograms {
    private var pairs: [CallProgram]
    private var generator = SeededGenerator(seed: 0)
    private let calls: Int

    init(calls: Int) {
        self.calls = calls
        pairs = (0..<calls).flatMap { one in (one..<calls).map { [[one], [$0]] } }.reversed()
        if pairs.count > 20 { pairs = [] }
    }

    mutating func next() -> CallProgram {
        if let pair = pairs.popLast() { return pair }
        let (tasks, length) = [(2, 2), (3, 1), (2, 3), (3, 2)].randomElement(using: &generator)!
        return (0..<tasks).map { _ in (0..<length).map { _ in Int.random(in: 0..<calls, using: &generator) } }
    }
}

// MARK: - Results

/// The result of a call.
private enum CallResult: Sendable, Equatable, CustomStringConvertible {
    case value(any Sendable)
    case error(String)
    /// The call has not returned.
    case waits
    case notBegun

    static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.value(let one), .value(let other)): areEqual(one, other)
        case (.error(let one), .error(let other)): one == other
        case (.waits, .waits), (.notBegun, .notBegun): true
        default: false
        }
    }

    private static func areEqual(_ one: any Sendable, _ other: any Sendable) -> Bool {
        func equals<Value: Equatable>(_ one: Value) -> Bool { (other as? Value) == one }
        return (one as? any Equatable).map { equals($0) } ?? ("\(one)" == "\(other)")
    }

    var description: String {
        switch self {
        case .value(let value): "\(value)"
        case .error(let text): "throws \(text)"
        case .waits: "waits"
        case .notBegun: "does not begin"
        }
    }
}

/// The results of a program's calls, and their moments.
private struct CallHistory: Sendable {
    struct Call: Sendable {
        let index: Int
        var result = CallResult.notBegun
        /// The moments of the call and of its return, as numbers of earlier moments.
        var start = Int.max
        var end = Int.max
    }

    var tasks: [[Call]]
    private var moments = 0

    init(_ program: CallProgram) { tasks = program.map { $0.map { Call(index: $0) } } }

    mutating func begin(_ task: Int, _ number: Int) {
        tasks[task][number].result = .waits
        tasks[task][number].start = moments
        moments += 1
    }

    mutating func end(_ task: Int, _ number: Int, _ result: CallResult) {
        tasks[task][number].result = result
        tasks[task][number].end = moments
        moments += 1
    }

    var isFinished: Bool { tasks.joined().allSatisfy { $0.end != .max } }

    /// The tasks that could begin a call.
    var idleTasks: [Int] {
        tasks.indices.filter { task in
            tasks[task].first { $0.end == .max }.map { $0.result == .notBegun } ?? false
        }
    }

    func nextCall(of task: Int) -> Int { tasks[task].firstIndex { $0.result == .notBegun }! }

    /// Explains that the results fit no order; nil if they fit one.
    func mismatch(with orders: [CallHistory], _ names: [String]) -> String? {
        let possible = orders.filter(respects)
        let differences = possible.map { order in
            zip(tasks.joined(), order.tasks.joined()).filter { $0.result != $1.result }
        }
        guard let nearest = differences.min(by: { $0.count < $1.count }), !nearest.isEmpty else { return nil }
        let lines = tasks.enumerated().map { number, calls in
            "    caller \(number + 1): "
                + calls.map { "\(names[$0.index]) → \($0.result)" }.joined(separator: ", ")
        }
        let expected = nearest.map { "\(names[$1.index]) → \($1.result)" }.joined(separator: ", ")
        return """
            The results fit no order of the calls:
            \(lines.joined(separator: "\n"))
            The order that comes nearest gives \(expected).
            Repeat it with tasks: \(tasks.map { $0.map { names[$0.index] } })
            """
    }

    /// Whether calls that ended before others began precede them in an order.
    private func respects(_ order: CallHistory) -> Bool {
        let pairs = Array(zip(tasks.joined(), order.tasks.joined()))
        return pairs.allSatisfy { early, earlyInOrder in
            pairs.allSatisfy { late, lateInOrder in early.end >= late.start || earlyInOrder.start < lateInOrder.start }
        }
    }
}

// MARK: - Running programs

/// A lock that closures of tasks can capture.
private final class Shared<Value: Sendable>: Sendable {
    private let value: Lock<Value>

    init(_ value: Value) { self.value = Lock(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

/// How to create an object, and its calls.
private struct CalledObject<Object: Sendable>: Sendable {
    let create: @Sendable () async throws -> Object
    let names: [String]
    let calls: [@Sendable (Object) async throws -> any Sendable]

    func index(of name: String) -> Int {
        let index = names.firstIndex(of: name)
        require(index != nil, "\"\(name)\" is none of the calls.")
        return index!
    }

    private func result(of index: Int, _ object: Object) async -> CallResult {
        do {
            return .value(try await calls[index](object))
        } catch {
            return .error("\(error)")
        }
    }

    func runAtOnce(_ program: CallProgram) async throws -> CallHistory {
        let object = try await create()
        let history = Shared(CallHistory(program))
        let tasks = program.indices.map { task in
            Task(name: "caller \(task + 1)") {
                for (number, index) in program[task].enumerated() {
                    history.withLock { $0.begin(task, number) }
                    let result = await result(of: index, object)
                    history.withLock { $0.end(task, number, result) }
                }
            }
        }
        await settle { history.withLock { $0.isFinished } }
        defer { for task in tasks { task.cancel() } }
        return history.withLock { $0 }
    }

    /// The results of a program in every order of its calls.
    func orders(of program: CallProgram) async throws -> [CallHistory] {
        var orders: [CallHistory] = []
        var prefixes: [[Int]] = [[]]
        while let prefix = prefixes.popLast() {
            let object = try await create()
            let history = Shared(CallHistory(program))
            var (order, tasks) = ([Int](), [Task<Void, Never>]())
            while true {
                let idle = history.withLock { $0.idleTasks }
                guard let first = idle.first else { break }
                if order.count >= prefix.count { prefixes += idle.dropFirst().map { order + [$0] } }
                let task = order.count < prefix.count ? prefix[order.count] : first
                order.append(task)
                let number = history.withLock { $0.nextCall(of: task) }
                tasks.append(
                    Task {
                        history.withLock { $0.begin(task, number) }
                        let result = await result(of: program[task][number], object)
                        history.withLock { $0.end(task, number, result) }
                    })
                await settle { history.withLock { $0.tasks[task][number].end != .max } }
            }
            for task in tasks { task.cancel() }
            orders.append(history.withLock { $0 })
        }
        return orders
    }

    /// Waits until no task can run, and then for a condition, but at most an hour of virtual time.
    private func settle(_ isReached: () -> Bool) async {
        var pause = Duration.nanoseconds(1)
        repeat {
            try? await Task.sleep(for: pause)
            pause *= 10
        } while !isReached() && pause <= .seconds(3_600)
    }
}
