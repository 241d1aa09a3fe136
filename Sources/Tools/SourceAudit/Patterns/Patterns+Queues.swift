extension Patterns {
    /// `OperationQueue`, its subclasses and its members.
    static let queues: [Pattern] = [
        Pattern(
            "queue-subclass", .queues, "OperationQueue subclass", recipe: "Operations/OperationQueueSubclass", .thought,
            .queues, "A TaskOperationQueue does not call overrides: wrap a queue instead.", .analysis),
        Pattern(
            "queue-serial", .queues, "OperationQueue of width 1", recipe: "Operations/SerialOperationQueue", .callers,
            .state, "An actor for the state, with a queue of width 1 if order matters.",
            .member(["maxConcurrentOperationCount"], of: [.operationQueue], when: [.assignedNumber("1")]),
            .message(["setMaxConcurrentOperationCount"], when: [.argument("1")])),
        Pattern(
            "queue-pool", .queues, "OperationQueue as a pool of threads", recipe: "Operations/BlockingOperations",
            .callers, .queues, "The width, and a BlockingExecutor for bodies that block.",
            .member(["maxConcurrentOperationCount"], of: [.operationQueue], when: [.assigned, .named("pool")]),
            .member(["maxConcurrentOperationCount"], of: [.operationQueue], when: [.assigned, .named("thread")])),
        Pattern(
            "queue-width", .queues, "maxConcurrentOperationCount", recipe: "Operations/maxConcurrentOperationCount",
            .rote, .queues, "The same.",
            .member(["maxConcurrentOperationCount", "defaultMaxConcurrentOperationCount"], of: [.operationQueue]),
            .message(["setMaxConcurrentOperationCount"])),
        Pattern(
            "queue-made", .queues, "OperationQueue()", recipe: "Operations/maxConcurrentOperationCount", .rote, .queues,
            "BridgedOperationQueue() at first, a TaskOperationQueue when no old operation is added any more.",
            .made([.operationQueue])),
        Pattern(
            "queue-add-many-sizes", .queues, "Operations added over a stride", recipe: "Operations/ChunkedOperations",
            .rote, .leaves, "The same, or concurrentPerform(over:stride:).", .analysis),
        Pattern(
            "queue-add-batches", .queues, "addOperations that waits, in a loop", recipe: "Operations/BatchedOperations",
            .callers, .callers, "addOperationWaitingForRoom, or nothing: waiting operations are small.",
            .member(["addOperations"], of: [.operationQueue], when: [.mentions("true"), .inLoop])),
        Pattern(
            "queue-add-and-wait", .queues, "addOperations(_:waitUntilFinished: true)",
            recipe: "Operations/addOperations", .callers, .callers, "try queue.addOperations(…), then await.",
            .member(["addOperations"], of: [.operationQueue], when: [.mentions("true")])),
        Pattern(
            "queue-add-block", .queues, "addOperation { … }", recipe: "Operations/BlockOperation", .rote, .leaves,
            "The same, and it returns a value.", .member(["addOperation"], of: [.operationQueue], when: [.closureOnly]),
            .message(["addOperationWithBlock"])),
        Pattern(
            "queue-add", .queues, "addOperation", recipe: "Operations/addOperations", .rote, .leaves,
            "try queue.addOperation(…).", .member(["addOperation", "addOperations"], of: [.operationQueue]),
            .message(["addOperation", "addOperations"])),
        Pattern(
            "queue-barrier", .queues, "addBarrierBlock", recipe: "Operations/addBarrierBlock", .rote, .leaves,
            "addBarrier { … }.", .member(["addBarrierBlock"], of: [.operationQueue]), .message(["addBarrierBlock"])),
        Pattern(
            "queue-cancel", .queues, "cancelAllOperations()", recipe: "Operations/cancelAllOperations", .rote, .leaves,
            "The same.", .member(["cancelAllOperations"], of: [.operationQueue]), .message(["cancelAllOperations"])),
        Pattern(
            "queue-wait", .queues, "waitUntilAllOperationsAreFinished()", recipe: "Operations/waitUntilFinished",
            .thought, .callers, "The same with try await; until the caller is async, waitUntilFinishedBlocking().",
            .member(["waitUntilAllOperationsAreFinished"], of: [.operationQueue]),
            .message(["waitUntilAllOperationsAreFinished"])),
        Pattern(
            "queue-suspended", .queues, "isSuspended", recipe: "Operations/isSuspended", .rote, .queues, "The same.",
            .member(["isSuspended", "suspended"], of: [.operationQueue]), .message(["setSuspended"])),
        Pattern(
            "queue-progress", .queues, "progress", recipe: "Operations/OperationQueue.progress", .rote, .queues,
            "The same, with the bridge.", .member(["progress"], of: [.operationQueue])),
        Pattern(
            "queue-current", .queues, "OperationQueue.current",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue", .rote, .callers,
            "TaskOperationQueue.current; BridgedOperationQueue.current in old code.",
            .member(["current", "currentQueue"], of: [.operationQueue], when: [.last])),
        Pattern(
            "queue-main", .queues, "OperationQueue.main as a value", recipe: "Dispatch/DispatchQueue.main", .callers,
            .callers,
            "Changes with the parameter or property that receives it: @MainActor closures, or TaskOperationQueue.main.",
            .member(["main", "mainQueue"], of: [.operationQueue], when: [.last])),
        Pattern(
            "queue-operations", .queues, "operations, operationCount",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue", .callers, .queues,
            "The same; on Linux, a bridged queue returns stand-ins, so casts fail.",
            .member(["operations", "operationCount"], of: [.operationQueue])),
        Pattern(
            "queue-underlying", .queues, "underlyingQueue",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue",
            .callers, .queues, "TaskOperationQueue(underlyingQueue:), or an executor:.",
            .member(["underlyingQueue"], of: [.operationQueue])),
        Pattern(
            "queue-name", .queues, "name of an operation queue",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue", .rote, .queues, "name: where it is made.",
            .member(["name"], of: [.operationQueue])),
        Pattern(
            "queue-type", .queues, "OperationQueue as a type",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue", .rote, .queues,
            "BridgedOperationQueue at first, a TaskOperationQueue when no old operation is added any more.",
            .named([.operationQueue])),
        Pattern(
            "queue-limit-implied", .queues, "Process or descriptor that is opened in a body",
            recipe: "Operations/maxConcurrentOperationCount", .callers, .queues,
            "The width of the old queue limits the number of open ones: keep the width, or use an AsyncSemaphore.",
            .analysis),
        Pattern(
            "queue-scheduler", .queues, "OperationQueue as a scheduler of Combine",
            recipe: "TaskOperations.docc/Members#members-of-operationqueue", .callers, .queues,
            "Not needed: delays are addOperation(.delay(…)).",
            .member(["schedule", "now", "minimumTolerance"], of: [.operationQueue])),
    ]
}
