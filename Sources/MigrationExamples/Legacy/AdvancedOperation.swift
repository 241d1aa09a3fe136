import Foundation

/// The base class that a team keeps beside its operations: a state machine with conditions, observers and errors.
class AdvancedOperation: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    /// Both are set before the operation is added.
    var conditions: [AdvancedCondition] = []
    var observers: [AdvancedObserver] = []

    private let lock = NSLock()
    private var state = State.waiting
    private var failures: [Error] = []

    var errors: [Error] { lock.withLock { failures } }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    final override func start() {
        willChangeValue(forKey: "isExecuting")
        lock.withLock { state = .executing }
        didChangeValue(forKey: "isExecuting")
        evaluate(conditions[...])
    }

    /// Conditions are asked one after the other, and may answer later.
    private func evaluate(_ rest: ArraySlice<AdvancedCondition>) {
        guard let condition = rest.first else { return begin() }
        condition.evaluate(for: self) { error in
            if let error { self.lock.withLock { self.failures.append(error) } }
            self.evaluate(rest.dropFirst())
        }
    }

    private func begin() {
        if isCancelled || !errors.isEmpty { return finish() }
        observers.forEach { $0.didStart(self) }
        execute()
    }

    /// Overridden with the work, which calls `finish` at its end.
    func execute() {
        finish()
    }

    func cancel(with error: Error) {
        lock.withLock { failures.append(error) }
        cancel()
    }

    func produce(_ operation: Operation) {
        observers.forEach { $0.didProduce(operation, by: self) }
    }

    final func finish(_ error: Error? = nil) {
        let isFirst = lock.withLock {
            if let error, state != .finished { failures.append(error) }
            return state != .finished
        }
        if !isFirst { return }
        observers.forEach { $0.didFinish(self) }
        (conditions, observers) = ([], [])
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { state = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// An operation of the base class that does a block.
final class AdvancedBlockOperation: AdvancedOperation, @unchecked Sendable {
    private let block: (AdvancedOperation) throws -> Void

    init(_ block: @escaping (AdvancedOperation) throws -> Void) {
        self.block = block
    }

    override func execute() {
        do {
            try block(self)
            finish()
        } catch {
            finish(error)
        }
    }
}

protocol AdvancedCondition {
    /// The operation that must finish before the condition is evaluated.
    func dependency(of operation: AdvancedOperation) -> Operation?
    /// Whether the operation may run: without an error.
    func evaluate(for operation: AdvancedOperation, completion: @escaping (Error?) -> Void)
}

extension AdvancedCondition {
    func dependency(of operation: AdvancedOperation) -> Operation? { nil }
}

protocol AdvancedObserver {
    func didStart(_ operation: AdvancedOperation)
    func didProduce(_ new: Operation, by operation: AdvancedOperation)
    func didFinish(_ operation: AdvancedOperation)
}

extension AdvancedObserver {
    func didStart(_ operation: AdvancedOperation) {}
    func didProduce(_ new: Operation, by operation: AdvancedOperation) {}
    func didFinish(_ operation: AdvancedOperation) {}
}

/// The queue for conditions: it adds their dependencies, and operations that other operations produce.
final class AdvancedQueue: OperationQueue, @unchecked Sendable {
    private struct Producer: AdvancedObserver {
        let queue: AdvancedQueue

        func didProduce(_ new: Operation, by operation: AdvancedOperation) { queue.add(new) }
    }

    /// Not `addOperation`: Foundation calls that from other members in ways of its own.
    func add(_ operation: Operation) {
        if let operation = operation as? AdvancedOperation {
            operation.observers.append(Producer(queue: self))
            for dependency in operation.conditions.compactMap({ $0.dependency(of: operation) }) {
                operation.addDependency(dependency)
                add(dependency)
            }
        }
        addOperation(operation)
    }
}
