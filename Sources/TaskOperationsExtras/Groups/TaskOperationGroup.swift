public import TaskOperations

/// A group of operations. `TaskOperationQueue.addGroup` creates a group. The group is itself an operation. Operations
/// can be added to the group while it runs.
///
/// ```swift
/// let album = queue.addGroup(name: "album", maxConcurrentOperationCount: 4) { album in
///     let pages = album.addOperation { try await fetchIndex() }
///     album.addOperation(after: pages) { pages in
///         for page in pages { album.addOperation { try await store(page) } }
///     }
/// }
/// try await album.value   // all of them are finished
/// ```
///
/// The group is one operation of its queue and takes one permit of that queue. The operations of the group run on an
/// inner queue. The inner queue has its own width, and uses the same executor. Similar types are `GroupOperation` from
/// session 226 of WWDC 2015, and `GroupProcedure` of ProcedureKit.
///
/// - The operations of the group start after the group has started. They do not start while the group or its queue is
///   suspended. Executing operations continue.
/// - Cancelling the group cancels all its operations, including operations that are added later.
/// - If a task waits for the group, all operations of the group inherit the task's priority. Operations without a
///   priority have the priority of the group.
/// - A cancelled operation is not a failure of the group, regardless of its error. An operation that exceeded its time
///   limit is a failure.
/// - An operation of the group cannot wait for the group. Such a wait throws an error that names the operations.
public final class TaskOperationGroup: TaskOperationAdding {
    private let queue: TaskOperationQueue
    private let members: GroupMembers
    private let suspension: GroupSuspension

    init(_ queue: TaskOperationQueue, _ members: GroupMembers, _ suspension: GroupSuspension) {
        self.queue = queue
        self.members = members
        self.suspension = suspension
    }

    /// The maximum number of operations of the group that execute at once; not negative.
    public var maxConcurrentOperationCount: Int {
        get { queue.maxConcurrentOperationCount }
        set { queue.maxConcurrentOperationCount = newValue }
    }

    /// Whether the group or its queue is suspended. A suspended group starts no operation. Setting this property
    /// suspends or resumes only the group.
    public var isSuspended: Bool {
        get { queue.isSuspended }
        set { suspension.setSuspended(newValue) }
    }

    /// The unfinished operations of the group, in the order in which they were added. Sorts the operations.
    public var operations: [AnyTaskOperation] { queue.operations }

    /// The number of operations of the group that have not finished.
    public var operationCount: Int { queue.operationCount }

    /// Cancels all unfinished operations of the group. The group itself, and operations that are added later, are not
    /// cancelled.
    public func cancelAllOperations() {
        queue.cancelAllOperations()
    }

    /// Adds an operation. If the group has ended, the operation fails at once with `TaskOperationError.queueShutDown`.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addOperation(_:)`.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        members.willAdd()
        do {
            try queue.addOperation(operation)
        } catch {
            members.wasRefused()
            throw error
        }
        members.didAdd(operation)
    }

    /// Adds operations in one step. See `TaskOperationQueue.addOperations(_:)`.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addOperation(_:)`. If one operation is refused, none is added.
    public func addOperations(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        for _ in operations { members.willAdd() }
        do {
            try queue.addOperations(operations)
        } catch {
            for _ in operations { members.wasRefused() }
            throw error
        }
        for operation in operations { members.didAdd(operation) }
    }

    /// Adds an operation as a barrier among the operations of the group. See `TaskOperationQueue.addBarrier(_:)`.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addBarrier(_:)`.
    public func addBarrier(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        members.willAdd()
        do {
            try queue.addBarrier(operation)
        } catch {
            members.wasRefused()
            throw error
        }
        members.didAdd(operation)
    }

    public var priorityOfAddedOperations: TaskPriority? { members.priority }

    public func addNew(_ operation: AnyTaskOperation, isBarrier: Bool) {
        members.willAdd()
        queue.addNew(operation, isBarrier: isBarrier)
        members.didAdd(operation)
    }
}
