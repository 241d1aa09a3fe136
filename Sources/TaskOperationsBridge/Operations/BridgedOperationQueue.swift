public import Dispatch
public import Foundation
internal import Synchronization
public import TaskOperations
internal import TaskOperationsExtras

/// An `OperationQueue` that is driven by a `TaskOperationQueue`, for code that requires an `OperationQueue`.
///
/// Pass it to `URLSession(configuration:delegate:delegateQueue:)`, `NotificationCenter.addObserver`, or an old library.
/// New code can add operations to this queue or to `taskQueue`. The width, order, suspension and barriers apply to all
/// operations.
///
/// Blocks and operations of Foundation run on threads that may block, or on `underlyingQueue`.
///
/// The queue differs from its base class as follows:
///
/// - An operation that is cancelled before its start finishes at once, even on a suspended queue.
/// - No operation overtakes a barrier. A wait until the queue is empty also waits for barriers.
/// - If an operation of the queue blocks until the queue is empty, it waits for all other operations. It does not wait
///   for itself. It lends its permit during the wait.
///
/// As in the base class, operations that depend on each other in a cycle wait until one of them is cancelled. The cycle
/// is reported to `MisuseReport`.
///
/// With the Objective-C runtime, observers of the key paths `operationCount` and `operations` receive no changes. Add a
/// `TaskOperationObserver` to `taskQueue`, or observe `progress`.
///
/// Without the Objective-C runtime, a subclass cannot override `operations` and `operationCount`, and cannot set
/// `OperationQueue.current`. So this class differs in three ways there:
///
/// - `operations` lists a proxy for each operation. The proxy has the state, name and `cancel()` of its operation. It
///   is equal to the operation, but not identical.
/// - `BridgedOperationQueue.current` returns this queue, but `OperationQueue.current` does not.
/// - The listed operations retain this queue. So a suspended queue with operations exists until it is resumed or its
///   operations are cancelled. An `OperationQueue` behaves in the same way. A `TaskOperationQueue` would resume when it
///   is released.
open class BridgedOperationQueue: OperationQueue, @unchecked Sendable {  // All mutable state is in locks.
    /// The queue that runs the operations. Without the Objective-C runtime, `operations` does not list operations that
    /// are added directly to `taskQueue`.
    public let taskQueue: TaskOperationQueue

    let executor: BridgedExecutor
    let settings: Lock<Settings>
    /// The operations in the list of the base class.
    let members = AsyncGroup()

    struct Settings: Sendable {
        var name: String
        var width: Int
        var service: QualityOfService?
    }

    /// Creates an empty queue of unlimited width.
    public override init() {
        // A designated initializer, because initializers of subclasses call it.
        let width = OperationQueue.defaultMaxConcurrentOperationCount
        (taskQueue, executor) = Self.parts(.init(maxConcurrentOperationCount: Self.taskQueueWidth(width)))
        settings = Lock(Settings(name: "BridgedOperationQueue", width: width))
        super.init()
        prepareList()
        makeKnown()
    }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - maxConcurrentOperationCount: The maximum number of operations that execute at once.
    ///     `OperationQueue.defaultMaxConcurrentOperationCount` selects no limit.
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

    /// Creates an empty queue with the configuration of a `TaskOperationQueue`.
    ///
    /// If the configuration has an executor, blocks and operations of Foundation run on that executor and must not
    /// block. Otherwise they run on threads of the queue.
    ///
    /// - Parameter configuration: The configuration of `taskQueue`.
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

    /// Adds an operation of Foundation. If it was already added to a queue, is executing or has finished, the process
    /// stops with a message, as in the base class. `taskQueue.addOperation` throws an error instead.
    open override func addOperation(_ operation: Foundation.Operation) {
        addOrStop([operation])
    }

    /// Adds operations of Foundation in one step. If `waitUntilFinished` is true, blocks the calling thread until they
    /// have finished.
    open override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        addOrStop(operations)
        if wait { blockUntilFinished(operations) }
    }

    // The two methods above do not call each other. Subclasses may override one of them to call the other.
    private func addOrStop(_ operations: [Foundation.Operation]) {
        do {
            try add(operations)
        } catch {
            fatalError("\(error)")
        }
    }

    /// Adds a block that runs alone. It runs after all operations that were added earlier, and before all operations
    /// that are added later.
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        taskQueue.addBarrier(.priority(TaskPriority(qualityOfService))) { barrier() }
    }

    // MARK: Control

    /// The maximum number of operations that execute at once.
    open override var maxConcurrentOperationCount: Int {
        get { settings.withLock { $0.width } }
        set {
            // Stops the process for a bad width, before anything changes.
            _ = Self.taskQueueWidth(newValue)
            settings.withLock { $0.width = newValue }
            // Another thread may set the width at the same time, so this one reads the width again after each change.
            var width: Int
            repeat {
                width = settings.withLock { $0.width }
                taskQueue.maxConcurrentOperationCount = Self.taskQueueWidth(width)
            } while width != settings.withLock { $0.width }
        }
    }

    /// Whether the queue is suspended. A suspended queue starts no operation.
    open override var isSuspended: Bool {
        get { taskQueue.isSuspended }
        set { taskQueue.isSuspended = newValue }
    }

    /// Cancels all unfinished operations.
    open override func cancelAllOperations() {
        let legacies = taskQueue.operations.compactMap { LegacyTable.node(of: $0)?.legacy }
        taskQueue.cancelAllOperations()
        // The nodes cancel these operations asynchronously. Cancelling them here sets `isCancelled` before this call
        // returns.
        for legacy in legacies where !legacy.isCancelled { legacy.cancel() }
    }

    /// Blocks until the queue is empty. Also waits for operations that are added meanwhile. If an operation of this
    /// queue makes the call, waits for all other operations.
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

    /// The Dispatch queue on which blocks and operations of Foundation run. If nil, they run on threads of this queue.
    open override unowned(unsafe) var underlyingQueue: DispatchQueue? {
        get { executor.underlyingQueue }
        set {
            if taskQueue.operationCount > 0 {
                fatalError("underlyingQueue of \(self) was set while it has operations. Set it before adding any.")
            }
            executor.underlyingQueue = newValue
        }
    }

    /// The progress of the queue. It counts added operations and ended operations. Cancelling the progress cancels all
    /// operations.
    open override var progress: Progress { taskQueue.progress }

    #if canImport(ObjectiveC)
        /// The unfinished operations.
        open override var operations: [Foundation.Operation] { taskQueue.operations.map(\.asOperation) }

        /// The number of unfinished operations.
        open override var operationCount: Int { taskQueue.operationCount }
    #endif

    /// The bridged queue whose operation makes the call. Outside of such operations, the value of
    /// `OperationQueue.current`.
    open override class var current: OperationQueue? { bridged ?? super.current }

    /// The state of the queue, and the state and waits of each operation.
    open override var debugDescription: String { taskQueue.debugDescription }

    private static func taskQueueWidth(_ width: Int) -> Int {
        if width == OperationQueue.defaultMaxConcurrentOperationCount {
            return .max
        }
        if width < 0 { fatalError("maxConcurrentOperationCount is \(width); it must not be negative.") }
        return width
    }
}
