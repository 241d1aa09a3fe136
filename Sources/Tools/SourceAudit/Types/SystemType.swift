/// The types that patterns match: those of Foundation and Dispatch, and the types of this package that ported code
/// uses.
enum SystemType: String, CaseIterable {
    case operation = "Operation"
    case blockOperation = "BlockOperation"
    case operationQueue = "OperationQueue"
    case dispatchQueue = "DispatchQueue"
    case group = "DispatchGroup"
    case semaphore = "DispatchSemaphore"
    case workItem = "DispatchWorkItem"
    case source = "DispatchSource"
    case dispatchIO = "DispatchIO"
    case thread = "Thread"
    case lock = "NSLock"
    case recursiveLock = "NSRecursiveLock"
    case condition = "NSCondition"
    case conditionLock = "NSConditionLock"
    case distributedLock = "NSDistributedLock"
    case unfairLock = "OSAllocatedUnfairLock"
    case unfairLockStructure = "os_unfair_lock"
    case mutex = "pthread_mutex_t"
    case readWriteLock = "pthread_rwlock_t"
    case conditionVariable = "pthread_cond_t"
    case threadIdentifier = "pthread_t"
    case threadKey = "pthread_key_t"
    case process = "Process"
    case timer = "Timer"
    case runLoop = "RunLoop"
    case notificationQueue = "NotificationQueue"
    case bridgedQueue = "BridgedOperationQueue"
    case taskQueue = "TaskOperationQueue"
    case taskOperation = "TaskOperation"
    case anyTaskOperation = "AnyTaskOperation"

    /// Other names of the types, in Objective-C, in C, and as protocols.
    static let otherNames: [(String, SystemType)] = [
        ("NSOperation", .operation), ("NSBlockOperation", .blockOperation), ("NSOperationQueue", .operationQueue),
        ("NSInvocationOperation", .operation), ("NSThread", .thread), ("NSTask", .process), ("NSTimer", .timer),
        ("NSRunLoop", .runLoop),
        ("dispatch_queue_t", .dispatchQueue), ("dispatch_group_t", .group), ("dispatch_semaphore_t", .semaphore),
        ("dispatch_source_t", .source), ("os_unfair_lock_s", .unfairLockStructure),
        ("OSSpinLock", .unfairLockStructure), ("os_unfair_lock_t", .unfairLockStructure),
        ("DispatchSourceProtocol", .source), ("DispatchSourceTimer", .source), ("DispatchSourceRead", .source),
        ("DispatchSourceWrite", .source), ("DispatchSourceSignal", .source), ("DispatchSourceProcess", .source),
        ("DispatchSourceUserDataAdd", .source), ("DispatchSourceUserDataOr", .source),
        ("DispatchSourceUserDataReplace", .source), ("DispatchSourceFileSystemObject", .source),
        ("DispatchSourceMemoryPressure", .source), ("DispatchSourceMachSend", .source),
        ("DispatchSourceMachReceive", .source), ("DispatchSerialQueue", .dispatchQueue),
        ("DispatchConcurrentQueue", .dispatchQueue), ("NSLocking", .lock), ("__DispatchQueue", .dispatchQueue),
    ]

    /// The names that are no prefixed names of C or Objective-C.
    static let namesInSwift = allCases.map(\.rawValue).filter { name in
        name.first!.isUppercase && !name.hasPrefix("NS") && !name.hasPrefix("OS")
    }

    /// The type whose members a type inherits.
    var parent: SystemType? {
        switch self {
        case .blockOperation: .operation
        case .bridgedQueue: .operationQueue
        default: nil
        }
    }

    /// Whether the type is another, or inherits from it.
    func isKind(of other: SystemType) -> Bool {
        self == other || parent?.isKind(of: other) ?? false
    }

    /// The members of system types: the owner, the name, the type of the value, and whether the value is a list.
    static let members: [(SystemType, String, SystemType, isCollection: Bool)] = [
        (.operationQueue, "main", .operationQueue, false), (.operationQueue, "current", .operationQueue, false),
        (.operationQueue, "mainQueue", .operationQueue, false),
        (.operationQueue, "currentQueue", .operationQueue, false),
        (.operationQueue, "operations", .operation, true), (.operationQueue, "underlyingQueue", .dispatchQueue, false),
        (.operation, "dependencies", .operation, true), (.dispatchQueue, "main", .dispatchQueue, false),
        (.dispatchQueue, "global", .dispatchQueue, false), (.thread, "current", .thread, false),
        (.thread, "currentThread", .thread, false), (.thread, "main", .thread, false),
        (.runLoop, "current", .runLoop, false), (.runLoop, "main", .runLoop, false),
        (.runLoop, "currentRunLoop", .runLoop, false), (.runLoop, "mainRunLoop", .runLoop, false),
        (.timer, "scheduledTimer", .timer, false), (.bridgedQueue, "taskQueue", .taskQueue, false),
        (.taskQueue, "main", .taskQueue, false), (.taskQueue, "addOperation", .taskOperation, false),
        (.source, "makeTimerSource", .source, false), (.source, "makeSignalSource", .source, false),
        (.source, "makeReadSource", .source, false), (.source, "makeWriteSource", .source, false),
        (.source, "makeProcessSource", .source, false), (.source, "makeUserDataAddSource", .source, false),
        (.source, "makeUserDataOrSource", .source, false), (.source, "makeUserDataReplaceSource", .source, false),
        (.source, "makeFileSystemObjectSource", .source, false), (.source, "makeMemoryPressureSource", .source, false),
        (.source, "makeMachSendSource", .source, false), (.source, "makeMachReceiveSource", .source, false),
    ]
}
