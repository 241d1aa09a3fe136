import Foundation
import TaskOperations

/// A synchronous subclass as in existing code.
final class SynchronousOperation: Foundation.Operation, @unchecked Sendable {  // All stored properties are constant.
    private let work: @Sendable (SynchronousOperation) -> Void

    init(name: String? = nil, work: @escaping @Sendable (SynchronousOperation) -> Void) {
        self.work = work
        super.init()
        self.name = name
    }

    override func main() { work(self) }
}

/// An asynchronous subclass with hand-written states, as in existing code.
final class AsynchronousOperation: Foundation.Operation, @unchecked Sendable {  // All mutable state is in `state`.
    private enum State { case waiting, executing, finished }

    private let state = Lock(State.waiting)
    private let work: @Sendable (AsynchronousOperation) -> Void

    /// - Parameter work: Calls `finish()` on its argument, now or later, from any thread.
    init(name: String? = nil, work: @escaping @Sendable (AsynchronousOperation) -> Void) {
        self.work = work
        super.init()
        self.name = name
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        if isCancelled { return finish() }
        willChangeValue(forKey: "isExecuting")
        state.withLock { $0 = .executing }
        didChangeValue(forKey: "isExecuting")
        work(self)
    }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// A subclass whose `isReady` includes a condition that the test sets.
final class ConditionalOperation: Foundation.Operation, @unchecked Sendable {  // All mutable state is in `condition`.
    private let condition = Lock(false)
    private let work: @Sendable () -> Void

    init(name: String? = nil, work: @escaping @Sendable () -> Void) {
        self.work = work
        super.init()
        self.name = name
    }

    override var isReady: Bool { super.isReady && (isCancelled || condition.withLock { $0 }) }

    override func main() { work() }

    func fulfil() {
        willChangeValue(forKey: "isReady")
        condition.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
    }
}
