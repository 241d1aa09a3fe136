import Dispatch
import Foundation
import TaskOperations

/// An operation in the style of PSOperations and its many copies. It has its own state, evaluates its conditions when
/// `isReady` is first read, and tells observers when it finishes. It overrides all subclass behaviour.
class ConditionedOperation: Foundation.Operation, @unchecked Sendable {  // All mutable state is in `locked`.
    enum State: Int, Comparable, Sendable {
        case initialized, pending, evaluating, ready, executing, finished

        static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    /// Evaluates the conditions. Calls `satisfied` on any thread when they are true.
    typealias Condition = @Sendable (_ satisfied: @escaping @Sendable () -> Void) -> Void

    private struct Locked: Sendable {
        var state = State.initialized
        var observers: [@Sendable (ConditionedOperation) -> Void] = []
        var cancels = 0
    }

    private let locked = Lock(Locked())
    private let condition: Condition
    private let work: @Sendable (ConditionedOperation) -> Void

    /// - Parameters:
    ///   - condition: Called once.
    ///   - work: Calls `finish()` on its argument, now or later.
    init(
        name: String? = nil,
        condition: @escaping Condition = { satisfied in DispatchQueue.global().async { satisfied() } },
        work: @escaping @Sendable (ConditionedOperation) -> Void = { $0.finish() }
    ) {
        self.condition = condition
        self.work = work
        super.init()
        self.name = name
    }

    /// The number of calls of `cancel()`.
    var cancelCount: Int { locked.withLock { $0.cancels } }

    func addObserver(_ observer: @escaping @Sendable (ConditionedOperation) -> Void) {
        locked.withLock { $0.observers.append(observer) }
    }

    /// Prepares the operation before a queue accepts it.
    func willEnqueue() { move(to: .pending, from: .initialized) }

    @discardableResult
    private func move(to new: State, from old: State? = nil) -> Bool {
        for key in ["isReady", "isExecuting", "isFinished"] { willChangeValue(forKey: key) }
        let isMoved = locked.withLock { locked in
            guard locked.state < new, old == nil || locked.state == old else { return false }
            locked.state = new
            return true
        }
        for key in ["isReady", "isExecuting", "isFinished"] { didChangeValue(forKey: key) }
        return isMoved
    }

    private var state: State { locked.withLock { $0.state } }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }

    override var isReady: Bool {
        switch state {
        case .initialized: return isCancelled
        case .pending:
            if isCancelled { return true }
            if super.isReady { evaluateConditions() }
            return state == .ready
        case .evaluating: return isCancelled
        case .ready: return super.isReady || isCancelled
        case .executing, .finished: return true
        }
    }

    private func evaluateConditions() {
        let isFirst = locked.withLock { locked in
            defer { if locked.state == .pending { locked.state = .evaluating } }
            return locked.state == .pending
        }
        if isFirst { condition { [self] in move(to: .ready, from: .evaluating) } }
    }

    override func cancel() {
        locked.withLock { $0.cancels += 1 }
        super.cancel()
    }

    override func start() {
        if isCancelled { return finish() }
        if move(to: .executing) { work(self) }
    }

    func finish() {
        guard move(to: .finished) else { return }
        let observers = locked.withLock { $0.observers }
        for observer in observers { observer(self) }
    }
}

/// A queue in the style of PSOperations: `addOperations` loops over `addOperation`, which prepares its argument.
final class PreparingOperationQueue: OperationQueue, @unchecked Sendable {  // It adds no stored properties.
    override func addOperation(_ operation: Foundation.Operation) {
        (operation as? ConditionedOperation)?.willEnqueue()
        super.addOperation(operation)
    }

    override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }
}
