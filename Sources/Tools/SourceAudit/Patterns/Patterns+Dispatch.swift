extension Patterns {
    /// Dispatch queues and the work that is submitted to them.
    static let dispatch: [Pattern] = [
        Pattern(
            "dispatch-queue-target", .dispatch, "Queue with a target queue", recipe: "Dispatch/setTarget", .thought,
            .queues, "A queue for each order, and .limit(_:) for shared resources.",
            .made([.dispatchQueue], when: [.label("target"), .targetsQueue]),
            .member(["setTarget"], of: [.dispatchQueue], when: [.targetsQueue]),
            .function(["dispatch_set_target_queue", "dispatch_queue_create_with_target"], when: [.targetsQueue])),
        Pattern(
            "dispatch-queue-readers", .dispatch, "Concurrent queue with barriers", recipe: "Dispatch/DispatchBarrier",
            .callers, .state, "A Mutex if a caller must stay synchronous; otherwise an actor, or addBarrier.", .analysis
        ),
        Pattern(
            "dispatch-queue-concurrent", .dispatch, "Concurrent queue", recipe: "Dispatch/ConcurrentDispatchQueue",
            .callers, .queues, "A TaskOperationQueue, or a task group.",
            .made([.dispatchQueue], when: [.mentions("concurrent")]),
            .function(
                ["dispatch_queue_create", "dispatch_queue_create_with_target"],
                when: [.mentions("DISPATCH_QUEUE_CONCURRENT")])),
        Pattern(
            "dispatch-queue-value", .dispatch, "Serial queue that async writes to and sync reads from",
            recipe: "Dispatch/DispatchQueue.sync", .callers, .state,
            "A Mutex if a caller must stay synchronous, as a method does that a framework calls; otherwise an actor, and await.",
            .analysis),
        Pattern(
            "dispatch-queue-lock", .dispatch, "Serial queue in place of a lock", recipe: "Dispatch/SerialDispatchQueue",
            .callers, .state, "A Mutex; an actor if all callers can await.", .analysis),
        Pattern(
            "dispatch-queue-inactive", .dispatch, "Queue that is made inactive", recipe: "Operations/isSuspended",
            .rote, .queues, "TaskOperationQueue(isSuspended: true).",
            .made([.dispatchQueue], when: [.mentions("initiallyInactive")])),
        Pattern(
            "dispatch-queue-serial", .dispatch, "Serial queue", recipe: "Operations/SerialOperationQueue", .callers,
            .queues, "A TaskOperationQueue of width 1.", .made([.dispatchQueue]),
            .function(["dispatch_queue_create", "dispatch_queue_create_with_target"])),
        Pattern(
            "dispatch-sync-empty", .dispatch, "sync { } that waits until a queue is empty",
            recipe: "Operations/waitUntilFinished", .callers, .callers,
            "await waitUntilAllOperationsAreFinished(), or the submitted operations.",
            .member(["sync", "asyncAndWait"], of: [.dispatchQueue], when: [.emptyClosure]),
            .function(["dispatch_sync", "dispatch_barrier_sync"], when: [.emptyClosure])),
        Pattern(
            "dispatch-barrier", .dispatch, "async(flags: .barrier)", recipe: "Dispatch/DispatchBarrier", .callers,
            .state, "withLock of a Mutex, if the caller need not continue before the write; an actor, or addBarrier.",
            .member(["async", "asyncAfter"], of: [.dispatchQueue], when: [.mentions("barrier")]),
            .function(["dispatch_barrier_async"])),
        Pattern(
            "dispatch-barrier-sync", .dispatch, "sync(flags: .barrier)", recipe: "Dispatch/DispatchBarrier", .callers,
            .state, "withLock of a Mutex, because the caller is synchronous; await of an actor when it is async.",
            .member(["sync", "asyncAndWait"], of: [.dispatchQueue], when: [.mentions("barrier")]),
            .function(["dispatch_barrier_sync", "dispatch_barrier_async_and_wait"])),
        Pattern(
            "dispatch-sync-own-queue", .dispatch, "sync on the current queue",
            recipe: "Dispatch/DispatchQueue.syncOnItself", .thought, .state,
            "Never returns. A call within an actor does not wait.", .analysis),
        Pattern(
            "dispatch-back-to-main", .dispatch, "async to the background and back to main",
            recipe: "Dispatch/DispatchQueue.global.async", .callers, .callers,
            "A @MainActor function that awaits an @concurrent one.",
            .member(["async"], of: [.dispatchQueue], when: [.on("main"), .inQueueBlock])),
        Pattern(
            "dispatch-main", .dispatch, "DispatchQueue.main.async", recipe: "Dispatch/DispatchQueue.main", .rote,
            .callers, "@MainActor, or TaskOperationQueue.main.",
            .member(["async", "asyncAndWait"], of: [.dispatchQueue], when: [.on("main")]),
            .function(["dispatch_async"], when: [.argument("dispatch_get_main_queue")]),
            .function(["dispatch_main", "dispatchMain", "dispatch_main_async_safe"], when: [.free])),
        Pattern(
            "dispatch-main-sync", .dispatch, "DispatchQueue.main.sync", recipe: "Threads/performSelectorOnMainThread",
            .thought, .callers, "await MainActor.run { … }.",
            .member(["sync"], of: [.dispatchQueue], when: [.on("main")]),
            .function(["dispatch_sync"], when: [.argument("dispatch_get_main_queue")])),
        Pattern(
            "dispatch-group-async", .dispatch, "async(group:)", recipe: "Dispatch/DispatchGroup.wait", .callers,
            .callers, "An operation, on which the next one depends.",
            .member(["async"], of: [.dispatchQueue], when: [.label("group")]), .function(["dispatch_group_async"])),
        Pattern(
            "dispatch-global", .dispatch, "DispatchQueue.global().async", recipe: "Dispatch/DispatchQueue.global",
            .callers, .callers, "queue.addOperation(priority:) { … }; with a BlockingExecutor if the block blocks.",
            .member(["async"], of: [.dispatchQueue], when: [.on("global")]),
            .function(["dispatch_async"], when: [.argument("dispatch_get_global_queue")])),
        Pattern(
            "dispatch-callback", .dispatch, "Stored closure that a queue calls", recipe: "Threads/UserCallbacks",
            .callers, .leaves, "A queue of width 1, on a BlockingExecutor if users' code may block.", .analysis),
        Pattern(
            "dispatch-after", .dispatch, "asyncAfter", recipe: "Dispatch/asyncAfter", .rote, .leaves,
            "queue.addOperation(.delay(…)), or Task.sleep.", .member(["asyncAfter"], of: [.dispatchQueue]),
            .member(["schedule"], of: [.dispatchQueue], when: [.called]),
            .function(["dispatch_after", "dispatch_after_f"])),
        Pattern(
            "dispatch-async", .dispatch, "queue.async", recipe: "Operations/addOperations", .callers, .leaves,
            "queue.addOperation { … }.", .member(["async"], of: [.dispatchQueue]),
            .function(["dispatch_async", "dispatch_async_f"])),
        Pattern(
            "dispatch-lock-used", .dispatch, "sync of a queue that is a lock", recipe: "Dispatch/SerialDispatchQueue",
            .rote, .state, "withLock of the Mutex that takes the queue's place.", .analysis),
        Pattern(
            "dispatch-readers-used", .dispatch, "sync of a queue that has barriers", recipe: "Dispatch/DispatchBarrier",
            .callers, .state, "withLock of a Mutex where the caller stays synchronous; otherwise an actor, and await.",
            .analysis),
        Pattern(
            "dispatch-required", .dispatch, "Queue that a system API requires", recipe: "Dispatch/SystemQueue", .kept,
            .callers, "Keep it, or use the API's async form.", .analysis),
        Pattern(
            "dispatch-sync", .dispatch, "queue.sync", recipe: "Dispatch/DispatchQueue.sync", .callers, .callers,
            "withLock of a Mutex where the caller stays synchronous; otherwise an actor, and await.",
            .member(["sync", "asyncAndWait"], of: [.dispatchQueue]),
            .function(["dispatch_sync", "dispatch_sync_f", "dispatch_async_and_wait"])),
        Pattern(
            "dispatch-global-queue", .dispatch, "DispatchQueue.global() as a value",
            recipe: "Dispatch/DispatchQueue.global", .callers, .queues,
            "Changes with the parameter or variable that receives it: priority: of the operation.",
            .member(["global"], of: [.dispatchQueue], when: [.last]), .function(["dispatch_get_global_queue"])),
        Pattern(
            "dispatch-main-queue", .dispatch, "DispatchQueue.main as a value", recipe: "Dispatch/DispatchQueue.main",
            .callers, .callers,
            "Changes with the parameter or property that receives it: @MainActor closures, or TaskOperationQueue.main.",
            .member(["main"], of: [.dispatchQueue], when: [.last]), .function(["dispatch_get_main_queue"])),
        Pattern(
            "dispatch-apply", .dispatch, "concurrentPerform", recipe: "Dispatch/concurrentPerform", .callers, .callers,
            "concurrentPerform(over:width:stride:), or a task group.",
            .member(["concurrentPerform"], of: [.dispatchQueue]), .function(["dispatch_apply", "dispatch_apply_f"])),
        Pattern(
            "dispatch-once", .dispatch, "dispatch_once", recipe: "Dispatch/dispatch_once", .rote, .state,
            "A static let, or an AsyncLazy.", .function(["dispatch_once", "dispatch_once_f", "pthread_once"])),
        Pattern(
            "dispatch-suspend", .dispatch, "suspend(), resume(), activate() of a queue",
            recipe: "Operations/isSuspended", .rote, .queues, "isSuspended, which does not count calls.",
            .member(["suspend", "resume", "activate"], of: [.dispatchQueue]),
            .function(["dispatch_suspend", "dispatch_resume", "dispatch_activate"], when: [.argumentNamed("queue")])),
        Pattern(
            "dispatch-specific", .dispatch, "setSpecific, getSpecific", recipe: "Threads/threadDictionary", .callers,
            .queues, "A task local, carried by taskLocals:.",
            .member(["setSpecific", "getSpecific"], of: [.dispatchQueue]),
            .function(["dispatch_queue_set_specific", "dispatch_get_specific", "dispatch_queue_get_specific"])),
        Pattern(
            "dispatch-precondition", .dispatch, "dispatchPrecondition",
            recipe: "TaskOperations.docc/Members#calls-of-dispatch", .rote, .state,
            "@MainActor or an actor, which the compiler checks; assertIsolated().",
            .function(["dispatchPrecondition", "dispatch_assert_queue"])),
        Pattern(
            "dispatch-io", .dispatch, "DispatchIO, DispatchData", recipe: nil, .thought, .callers,
            "Read in a body with a BlockingExecutor, or by DispatchSource.readEvents.", .made([.dispatchIO]),
            .member(["read", "write", "setLimit", "setInterval", "close", "barrier"], of: [.dispatchIO])),
        Pattern(
            "dispatch-label", .dispatch, "label, qos of a queue",
            recipe: "TaskOperations.docc/Members#calls-of-dispatch",
            .rote, .queues, "name: and priority:.", .member(["label", "qos", "setTarget"], of: [.dispatchQueue]),
            .function(["dispatch_set_target_queue", "dispatch_queue_get_label", "__dispatch_queue_get_label"])),
        Pattern(
            "dispatch-type", .dispatch, "DispatchQueue as a type",
            recipe: "TaskOperations.docc/Members#calls-of-dispatch",
            .callers, .queues, "Becomes the type of the queue's replacement.",
            .named([.dispatchQueue, .dispatchIO])),
    ]

    /// `DispatchGroup`.
    static let groups: [Pattern] = [
        Pattern(
            "group-made", .groups, "DispatchGroup()", recipe: "Dispatch/DispatchGroup.wait", .callers, .callers,
            "withTaskOperationQueue, a task group, or an AsyncGroup.", .made([.group]),
            .function(["dispatch_group_create"])),
        Pattern(
            "group-enter", .groups, "enter() and leave()", recipe: "Dispatch/DispatchGroup.enter", .callers, .callers,
            "addOperation(callback:) for each, or an AsyncGroup.", .member(["enter", "leave"], of: [.group]),
            .function(["dispatch_group_enter", "dispatch_group_leave"])),
        Pattern(
            "group-notify", .groups, "notify(queue:) of a group", recipe: "Dispatch/DispatchGroup.notify", .callers,
            .callers, "queue.addOperation(dependencies:).", .member(["notify"], of: [.group]),
            .function(["dispatch_group_notify"])),
        Pattern(
            "group-wait", .groups, "wait() of a group", recipe: "Dispatch/DispatchGroup.wait", .thought, .callers,
            "A task group, or await group.finished().", .member(["wait"], of: [.group]),
            .function(["dispatch_group_wait"])),
        Pattern(
            "group-type", .groups, "DispatchGroup as a type", recipe: "Dispatch/DispatchGroup.enter", .callers,
            .callers, "Changes with the group: an AsyncGroup if it is passed on.", .named([.group])),
    ]
}
