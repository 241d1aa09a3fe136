import Dispatch
import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

/// `OperationQueue` reports no error for a cycle. The operations wait until one of them is cancelled.
@Suite("A circle that cannot be refused by an error is reported, and a cancellation ends it", .inTurns)
struct LegacyCycleTests {
    /// The handler applies to the whole process, so it is set once for all tests.
    private static let reports: Recorder<String> = {
        let reports = Recorder<String>()
        // Tests of another module may have set a handler, which still needs its reports.
        let former = MisuseReport.handler
        MisuseReport.handler = { message in
            former(message)
            reports.record(message)
        }
        return reports
    }()

    private let runs = Recorder<String>()
    private let queue = BridgedOperationQueue()

    init() { _ = Self.reports }

    private func reportCount(naming name: String) -> Int {
        Self.reports.events.count { $0.contains("\"\(name)\"") }
    }

    private func operation(_ name: String) -> BlockOperation {
        let operation = BlockOperation { [runs] in runs.record(name) }
        operation.name = name
        return operation
    }

    private static func circle(_ operations: [Foundation.Operation]) {
        for (operation, next) in zip(operations, operations.dropFirst() + operations.prefix(1)) {
            operation.addDependency(next)
        }
    }

    // MARK: Adding

    enum QueueKind: CaseIterable { case foundation, bridged }

    @Test(
        "operations in a circle wait beside others until one is cancelled, as in an OperationQueue",
        arguments: QueueKind.allCases, 0..<3)
    func circle(kind: QueueKind, cancelled: Int) async {
        let queue = kind == .foundation ? OperationQueue() : self.queue
        let name = "circle \(kind) \(cancelled)"
        let operations = (0..<3).map { operation("\(name) \($0)") }
        Self.circle(operations)
        for operation in operations { queue.addOperation(operation) }
        let other = operation("other")
        queue.addOperation(other)
        await other.finished()
        #expect(runs.events == ["other"])
        // The base class lists an operation until shortly after its end.
        await until { queue.operationCount == 3 }
        operations[cancelled].cancel()
        await queue.finished()
        #expect(operations.count(where: \.isFinished) == 3)
        #expect(Set(runs.events) == Set(["other"] + (0..<3).filter { $0 != cancelled }.map { "\(name) \($0)" }))
        #expect(reportCount(naming: "\(name) 0") == (kind == .bridged ? 1 : 0))
    }

    @Test("Operations that are added in one step cannot close a cycle")
    func inOneStep() async {
        let (one, two) = (operation("step one"), operation("step two"))
        Self.circle([one, two])
        queue.addOperations([one, two], waitUntilFinished: false)
        #expect(queue.operationCount == 2)
        one.cancel()
        await queue.finished()
        #expect(runs.events == ["step two"])
        #expect(reportCount(naming: "step one") == 1)
    }

    @Test("A barrier cannot close a cycle", arguments: [false, true])
    func barrier(isLastCancelled: Bool) async {
        let name = "barrier \(isLastCancelled)"
        let (first, last) = (operation("\(name) first"), operation("\(name) last"))
        first.addDependency(last)
        queue.addOperation(first)
        queue.addBarrierBlock { [runs] in runs.record("barrier") }
        queue.addOperation(last)
        #expect(reportCount(naming: "\(name) last") == 1)
        (isLastCancelled ? last : first).cancel()
        await queue.finished()
        await last.finished()
        #expect(runs.events == (isLastCancelled ? ["\(name) first", "barrier"] : ["barrier", "\(name) last"]))
    }

    @Test("An operation that blocks until the queue is empty cannot close a cycle")
    func blockedUntilEmpty() async {
        let others = BridgedOperationQueue()
        queue.isSuspended = true
        let first = operation("blocked first")
        queue.addOperation(first)
        let waiting = BlockOperation { [queue] in wait(for: queue) }
        others.addOperation(waiting)
        await until { others.taskQueue.operations[0].awaitsEndOfQueue }
        let last = operation("blocked last")
        last.addDependency(waiting)
        queue.addOperation(last)
        queue.isSuspended = false
        await first.finished()
        #expect(!waiting.isFinished && !last.isFinished)
        #expect(reportCount(naming: "blocked last") == 1)
        last.cancel()
        await others.finished()
        await queue.finished()
        #expect(runs.events == ["blocked first"])
    }

    @Test("A dependency that is added later cannot close a cycle")
    func late() async throws {
        queue.isSuspended = true
        let (one, two) = (operation("late one"), operation("late two"))
        one.addDependency(two)
        queue.addOperation(one)
        queue.addOperation(two)
        two.addDependency(one)
        queue.isSuspended = false
        await until { reportCount(naming: "late two") == 1 }
        one.cancel()
        await queue.finished()
        #expect(runs.events == ["late two"])
    }

    @Test("a dependency of an operation of ours that would close a circle changes nothing", arguments: [false, true])
    func placeholder(isListed: Bool) async throws {
        let name = "stand-in \(isListed)"
        queue.isSuspended = true
        let first = TaskOperation(name: "\(name) first") { [runs] in runs.record("first") }
        let second = TaskOperation(name: "\(name) second", dependencies: [first]) { [runs] in runs.record("second") }
        try queue.addOperation(first)
        try queue.addOperation(second)
        let placeholder = isListed ? try #require(queue.operations.first { $0.name == first.name }) : first.asOperation
        placeholder.addDependency(second.asOperation)
        #expect(placeholder.dependencies.isEmpty)
        #expect(reportCount(naming: "\(name) first") == 1)
        queue.isSuspended = false
        await queue.finished()
        #expect(runs.events == ["first", "second"])
    }

    // MARK: Waiting

    @Test("a body that awaits an operation which waits for the body is reported, and waits until that is cancelled")
    func awaitingDependent() async throws {
        let dependent = operation("awaited")
        let body = TaskOperation { await dependent.finished() }
        try dependent.addDependency(body)
        try queue.addOperation(body)
        queue.addOperation(dependent)
        await until { reportCount(naming: "awaited") == 1 }
        #expect(body.isExecuting)
        dependent.cancel()
        try await body.value
        #expect(runs.events.isEmpty)
    }

    @Test("A wait for the end of a queue with such an operation is refused, too")
    func awaitingQueue() async throws {
        let others = TaskOperationQueue()
        let start = Gate()
        let body = others.addOperation { [queue] in
            await start.pass()
            await queue.finished()
        }
        let dependent = operation("in awaited queue")
        try dependent.addDependency(body)
        queue.addOperation(dependent)
        start.open()
        await until { reportCount(naming: "in awaited queue") == 1 }
        #expect(body.isExecuting)
        dependent.cancel()
        try await body.value
    }

    @Test("a body that awaits the end of its own queue waits for the others, as one that blocks does")
    func awaitingOwnQueue() async throws {
        let body = TaskOperation { [queue, runs] in
            queue.addOperation { runs.record("inner") }
            await queue.finished()
            runs.record("outer")
        }
        try queue.addOperation(body)
        await queue.finished()
        #expect(runs.events == ["inner", "outer"])
    }

    // MARK: Refusals

    @Test("an operation that was refused, and then freed of its dependency, runs on another queue")
    func refusedAndFreed() async throws {
        let suspended = TaskOperationQueue(.init(isSuspended: true))
        suspended.addOperation {}
        let body = TaskOperationQueue().addOperation { try await suspended.waitUntilAllOperationsAreFinished() }
        await until { body.awaitsEndOfQueue }
        let legacy = operation("refused")
        try legacy.addDependency(body)
        #expect(throws: TaskOperationError.self) { try suspended.addOperation(legacy) }
        legacy.removeDependency(body)
        try TaskOperationQueue().addOperation(legacy)
        await legacy.finished()
        #expect(runs.events == ["refused"])
        suspended.isSuspended = false
        try await body.value
    }
}

extension AnyTaskOperation {
    fileprivate var awaitsEndOfQueue: Bool {
        waitingReasons.contains { reason in
            if case .body(let wait) = reason, case .endOfQueue = wait.target { true } else { false }
        }
    }
}

// A synchronous wrapper: the function is unavailable in asynchronous contexts.
private func wait(for queue: OperationQueue) { queue.waitUntilAllOperationsAreFinished() }
