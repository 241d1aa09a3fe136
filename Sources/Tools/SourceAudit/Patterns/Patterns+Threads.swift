extension Patterns {
    /// Threads, calls that run on them, and values that belong to a single thread.
    static let threads: [Pattern] = [
        Pattern(
            "thread-subclass", .threads, "Thread subclass", recipe: "Threads/Thread.start", .thought, .leaves,
            "A BlockingExecutor if it blocks, a ThreadExecutor if it has a run loop.", .analysis),
        Pattern(
            "thread-worker", .threads, "Thread that takes work from a list", recipe: "Threads/performSelectorOnThread",
            .thought, .leaves, "A ThreadExecutor.", .analysis),
        Pattern(
            "thread-list", .threads, "Thread that takes blocks from a list", recipe: "Threads/ThreadWithList", .thought,
            .leaves, "A queue of width 1 on a ThreadExecutor.", .analysis),
        Pattern(
            "thread-detach", .threads, "Thread.detachNewThread", recipe: "Threads/detachNewThread", .callers, .leaves,
            "Task.detached, or an operation; a BlockingExecutor if it blocks.",
            .member(["detachNewThread", "detachNewThreadSelector", "detachNewThreadWithBlock"], of: [.thread]),
            .message(["detachNewThreadSelector", "detachNewThreadWithBlock", "performSelectorInBackground"])),
        Pattern(
            "thread-made", .threads, "Thread { … }", recipe: "Threads/Thread.start", .callers, .leaves,
            "A BlockingExecutor, with a thread or more of its own.", .made([.thread]), .function(["pthread_create"])),
        Pattern(
            "thread-local", .threads, "threadDictionary, pthread_setspecific", recipe: "Threads/threadDictionary",
            .callers, .leaves, "@TaskLocal.", .member(["threadDictionary"], of: [.thread]),
            .message(["threadDictionary"]),
            .function(["pthread_setspecific", "pthread_getspecific", "pthread_key_create"])),
        Pattern(
            "thread-priority", .threads, "Priority or quality of service of a thread",
            recipe: "Threads/Thread.start", .rote, .leaves,
            "priority: of the operation; a ThreadExecutor whose first call sets that of its thread.",
            .member(["setThreadPriority", "threadPriority", "qualityOfService", "setQualityOfService"], of: [.thread]),
            .function(["pthread_setschedparam", "pthread_set_qos_class_self_np"])),
        Pattern(
            "thread-sleep-until", .threads, "Thread.sleep(until:)", recipe: "Operations/RateLimitedLoader", .callers,
            .callers, "rate: of the queue if it spreads work over time, or try await Task.sleep(until:).",
            .member(["sleep"], of: [.thread], when: [.label("until")])),
        Pattern(
            "thread-sleep", .threads, "Thread.sleep", recipe: "Dispatch/asyncAfter", .callers, .callers,
            "try await Task.sleep.", .member(["sleep", "sleepForTimeInterval", "sleepUntilDate"], of: [.thread]),
            .function(["sleep", "usleep", "nanosleep"], when: [.called, .free])),
        Pattern(
            "load-blocking", .threads, "dataWithContentsOfURL:, sendSynchronousRequest:",
            recipe: "Operations/BlockingOperations", .kept, .callers,
            "Blocks its thread for the whole transfer: await URLSession instead. For a file it may stay, on a BlockingExecutor.",
            .message(["dataWithContentsOfURL", "stringWithContentsOfURL", "sendSynchronousRequest"], toAny: true)),
        Pattern(
            "thread-type", .threads, "Thread as a type", recipe: "Threads/Thread.start", .callers, .leaves,
            "Changes with the thread: a ThreadExecutor or a BlockingExecutor.", .named([.thread, .threadIdentifier])),
        Pattern(
            "thread-main", .threads, "Thread.isMainThread", recipe: "Threads/performSelectorOnMainThread", .callers,
            .callers, "@MainActor: the compiler knows.", .member(["isMainThread", "main"], of: [.thread]),
            .function(["pthread_main_np"])),
        Pattern(
            "thread-current", .threads, "Thread.current", recipe: nil, .callers, .callers,
            "A task moves between threads: ask for the task, the operation or the actor.",
            .member(["current", "currentThread"], of: [.thread], when: [.last]),
            .member(["hash", "hashValue", "description", "debugDescription", "isEqual", "value"], of: [.thread]),
            .function(["pthread_self", "pthread_threadid_np", "pthread_mach_thread_np"])),
        Pattern(
            "thread-control", .threads, "start(), cancel(), name of a thread", recipe: "Threads/Thread.start", .rote,
            .leaves, "Changes with the thread.",
            .member(
                ["start", "cancel", "isCancelled", "isFinished", "isExecuting", "name", "stackSize", "exit"],
                of: [.thread]), .function(["pthread_join", "pthread_detach", "pthread_cancel"])),
        Pattern(
            "perform-on-main", .threads, "performSelector(onMainThread:)",
            recipe: "Threads/performSelectorOnMainThread", .rote, .callers, "@MainActor.",
            .function(["perform", "performSelector"], when: [.called, .label("onMainThread")]),
            .function(["performSelectorOnMainThread"], when: [.called]),
            .message(["performSelectorOnMainThread"], toAny: true)),
        Pattern(
            "perform-after-delay", .threads, "perform(_:with:afterDelay:)", recipe: "Threads/performAfterDelay",
            .callers, .leaves, "Task.sleep, and the next line.",
            .function(["perform"], when: [.called, .label("afterDelay")]),
            .message(["performSelector"], toAny: true, when: [.mentions("afterDelay")])),
        Pattern(
            "perform-cancelled", .threads, "cancelPreviousPerformRequests",
            recipe: "Threads/cancelPreviousPerformRequests", .callers, .leaves, "task.cancel(), then a new one.",
            .function(["cancelPreviousPerformRequests"]),
            .message(["cancelPreviousPerformRequestsWithTarget"], toAny: true)),
        Pattern(
            "perform-on-thread", .threads, "perform(_:on:with:waitUntilDone:)",
            recipe: "Threads/performSelectorOnThread", .thought, .leaves, "A ThreadExecutor.",
            .function(["perform"], when: [.called, .label("waitUntilDone")]),
            .message(["performSelector"], toAny: true, when: [.mentions("onThread")])),
        Pattern(
            "perform-in-background", .threads, "performSelector(inBackground:)", recipe: "Threads/detachNewThread",
            .callers, .leaves, "Task.detached, or an operation.",
            .function(["perform", "performSelector"], when: [.called, .label("inBackground")])),
    ]

    /// Timers and run loops.
    static let timers: [Pattern] = [
        Pattern(
            "timer-rearmed", .timers, "One-shot timer that is created again each time",
            recipe: "Threads/cancelPreviousPerformRequests", .callers, .leaves, "task.cancel(), then a new one.",
            .analysis),
        Pattern(
            "timer", .timers, "Timer", recipe: "Threads/performAfterDelay", .callers, .leaves,
            "Task.sleep, and the next line; timerEvents if it repeats.", .made([.timer]),
            .member(["scheduledTimer"], of: [.timer]),
            .message(["scheduledTimerWithTimeInterval", "timerWithTimeInterval"])),
        Pattern(
            "timer-control", .timers, "fire(), invalidate() of a timer", recipe: "Threads/performAfterDelay", .rote,
            .leaves, "task.cancel().",
            .member(["fire", "invalidate", "isValid", "fireDate", "tolerance"], of: [.timer])),
        Pattern(
            "timer-type", .timers, "Timer as a type", recipe: "Threads/performAfterDelay", .rote, .leaves,
            "Changes with the timer: the task that sleeps.", .named([.timer])),
        Pattern(
            "run-loop", .timers, "RunLoop that is run or given work", recipe: "Threads/performSelectorOnThread",
            .thought, .callers, "A ThreadExecutor, or nothing: an await leaves the thread free.",
            .member(
                [
                    "run", "perform", "add", "limitDate", "acceptInput", "schedule", "cancelPerform", "runMode",
                    "runUntilDate", "addTimer", "addPort", "performBlock",
                ], of: [.runLoop]),
            .function([
                "CFRunLoopRun", "CFRunLoopRunInMode", "CFRunLoopStop", "CFRunLoopAddTimer", "CFRunLoopPerformBlock",
            ])),
        Pattern(
            "run-loop-named", .timers, "RunLoop.main, RunLoop.current", recipe: "Threads/performSelectorOnThread",
            .callers, .callers, "@MainActor, or a ThreadExecutor.",
            .member(["main", "current", "mainRunLoop", "currentRunLoop"], of: [.runLoop], when: [.last]),
            .function(["CFRunLoopGetCurrent", "CFRunLoopGetMain"]), .named([.runLoop])),
    ]
}
