public import Dispatch
public import Foundation
internal import Synchronization
@_spi(Lock) public import TaskOperations
internal import TaskOperationsExtras

/// An `OperationQueue` that is driven by a `TaskOperationQueue`, for code that requires an `OperationQueue`.
///
/// Pass it to `URLSession(configuration:delegate:delegateQueue:)`, `NotificationCenter.addObserver`, or an old library.
/// New code adds to this queue or to `taskQueue`, and shares its width, order, suspension and barriers.
///
/// Blocks and operations of Foundation run on threads that may block, or on `underlyingQueue`. The queue differs from
/// its base class as follows:
///
/// - An operation that is cancelled before its start finishes at once, even on a suspended queue.
/// - No operation overtakes a barrier. Waits for the queue include barriers.
/// - An operation of the queue that blocks until the queue is empty waits for the other operations and lends its
///   permit. It does not wait for itself.
///
/// Operations that depend on each other in a cycle wait until one of them is cancelled, as in the base class, and are
/// reported to `MisuseReport`.
///
/// Without the Objective-C runtime, a subclass cannot override `operations` and `operationCount`, or set
/// `OperationQueue.current`. There, `operations` lists a proxy for each operation, with its state, name and `cancel()`.
/// The proxy is equal to the operation but not identical. `BridgedOperationQueue.current` returns this queue. The
/// operations that the base class lists retain this queue. So, like an `OperationQueue`, a suspended queue with
/// operations exists until it is resumed or its operations are cancelled. A `TaskOperationQueue` would resume when it
/// is released.
open class BridgedOperationQueue: OperationQueue, @unchecked Sendable {  // All that changes is behind locks.
    /// The queue that runs the operations. Operations that are added to it directly are not listed in `operations`.
    public let taskQueue: TaskOperationQueue

    let executor: BridgedExecutor
    let settings: Lock<Settings>
    /// The operations that the base class lists.
    let members = AsyncGroup()

    struct Settings: Sendable {
        var name: String
        var width: Int
        var service: QualityOfService?
    }

    /// Creates an empty queue of unlimited width.
    public override convenience init() {
        self.init(name: nil)
    }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - maxConcurrentOperationCount: The width; `OperationQueue.defaultMaxConcurrentOperationCount` for no limit.
    public init(
        name: String?, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        (taskQueue, executor) = Self.parts(
            .init(name: name, maxConcurrentOperationCount: Self.taskQueueWidth(maxConcurrentOperationCount)))
        settings = Lock(Settings(name: name ?? "BridgedOperationQueue", width: maxConcurrentOperationCount))
        super.init()
        prepareList()
        makeKnown()
    }

    /// Creates an empty queue with the configuration of a `TaskOperationQueue`. If the configuration has an executor,
    /// it runs all jobs of the queue, so blocks and operations of Foundation must not block. Without an executor, they
    /// run on threads of the queue.
    public init(_ configuration: TaskOperationQueue.Configuration) {
        (taskQueue, executor) = Self.parts(configuration)
        settings = Lock(
            Settings(
                name: configuration.name ?? "BridgedOperationQueue", width: configuration.maxConcurrentOperationCount))
        super.init()
        prepareList()
        makeKnown()
    }

    private static func parts(
        _ configuration: TaskOperationQueue.Configuration
    ) -> (TaskOperationQueue, BridgedExecutor) {
        var configuration = configuration
        let executor = BridgedExecutor()
        if let target = configuration.executor { executor.run(on: target) }
        configuration.executor = executor
        return (TaskOperationQueue(configuration), executor)
    }

    deinit { makeUnknown() }

    // MARK: Adding

    /// Adds a block as an operation.
    open override func addOperation(_ block: @escaping @Sendable () -> Void) {
        add(TaskOperation<Void>(priority: TaskPriority(qualityOfService)) { block() })
    }

    /// Adds an operation of Foundation. If it was already added to a queue, is executing or has finished, the program
    /// stops with a message, as in the base class. `taskQueue.addOperation` throws an error instead.
    open override func addOperation(_ operation: Foundation.Operation) {
        addOrStop([operation])
    }

    /// Adds operations of Foundation in one step. With `waitUntilFinished`, blocks the thread until they have finished.
    open override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        addOrStop(operations)
        if wait { blockUntilFinished(operations) }
    }

    // Some subclasses override `addOperations` to call `addOperation`, and others the reverse.
    private func addOrStop(_ operations: [Foundation.Operation]) {
        do {
            try add(operations)
        } catch {
            fatalError("\(error)")
        }
    }

    /// Adds a block that runs alone: after everything before it, and before everything after it.
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        taskQueue.addBarrier(.priority(TaskPriority(qualityOfService))) { barrier() }
    }

    // MARK: Control

    /// The number of operations that may execute at once.
    open override var maxConcurrentOperationCount: Int {
        get { settings.withLock { $0.width } }
        set {
            let width = Self.taskQueueWidth(newValue)
            settings.withLock { $0.width = newValue }
            taskQueue.maxConcurrentOperationCount = width
        }
    }

    /// Whether the queue is suspended and starts no operation.
    open override var isSuspended: Bool {
        get { taskQueue.isSuspended }
        set { taskQueue.isSuspended = newValue }
    }

    /// Cancels every operation that is not finished.
    open override func cancelAllOperations() {
        let legacies = taskQueue.operations.compactMap { LegacyTable.node(of: $0)?.legacy }
        taskQueue.cancelAllOperations()
        // The operations are cancelled asynchronously in any case. Cancelling them here makes `isCancelled` true at
        // once.
        for legacy in legacies where !legacy.isCancelled { legacy.cancel() }
    }

    /// Blocks until the queue is empty. The call also waits for operations that are added meanwhile. In an operation of
    /// this queue, the call waits for all other operations.
    @available(*, noasync, message: "await finished() instead")
    open override func waitUntilAllOperationsAreFinished() {
        blockUntilEmpty()
    }

    // MARK: Properties

    /// The name in messages and descriptions.
    open override var name: String? {
        get { settings.withLock { $0.name } }
        set {
            settings.withLock { $0.name = newValue ?? "" }
            taskQueue.name = newValue
        }
    }

    /// The priority of blocks that are added to the queue.
    open override var qualityOfService: QualityOfService {
        get { settings.withLock { $0.service } ?? .default }
        set { settings.withLock { $0.service = newValue } }
    }

    /// The Dispatch queue on which blocks and operations of Foundation run, instead of on threads of this queue.
    open override unowned(unsafe) var underlyingQueue: DispatchQueue? {
        get { executor.underlyingQueue }
        set {
            if taskQueue.operationCount > 0 {
                fatalError("underlyingQueue of \(self) was set while it has operations. Set it before adding any.")
            }
            executor.underlyingQueue = newValue
        }
    }

    /// The number of operations that were added, and the number of these that have ended. Cancelling the progress
    /// cancels all operations.
    open override var progress: Progress { taskQueue.progress }

    #if canImport(ObjectiveC)
        /// The operations that are not finished.
        open override var operations: [Foundation.Operation] { taskQueue.operations.map(\.asOperation) }

        /// The number of operations that are not finished.
        open override var operationCount: Int { taskQueue.operationCount }
    #endif

    /// The bridged queue of the calling operation; otherwise the value of `OperationQueue`.
    open override class var current: OperationQueue? { bridged ?? super.current }

    /// The state of the queue, and the state and waits of each operation.
    open override var debugDescription: String { taskQueue.debugDescription }

    private static func taskQueueWidth(_ width: Int) -> Int {
        if width == OperationQueue.defaultMaxConcurrentOperationCount {
            return TaskOperationQueue.unlimitedConcurrentOperationCount
        }
        if width < 0 { fatalError("maxConcurrentOperationCount is \(width); it must not be negative.") }
        return width
    }
}
