extension Patterns {
    /// `DispatchSemaphore`, distinguished by its purpose.
    static let semaphores: [Pattern] = [
        Pattern(
            "semaphore-lock", .semaphores, "Semaphore in place of a lock", recipe: "Dispatch/DispatchSemaphore.lock",
            .callers, .state, "A Mutex, or an actor.", .analysis),
        Pattern(
            "semaphore-signal", .semaphores, "Semaphore that a callback signals",
            recipe: "Dispatch/DispatchSemaphore.signal", .thought, .callers,
            "A continuation; the caller becomes async.", .analysis),
        Pattern(
            "semaphore-limit", .semaphores, "Semaphore as a limit", recipe: "Dispatch/DispatchSemaphore.limit",
            .callers, .queues, "The width of a queue, or an AsyncSemaphore.", .analysis),
        Pattern(
            "semaphore-unknown", .semaphores, "Semaphore whose purpose is unknown",
            recipe: "Dispatch/DispatchSemaphore.limit", .thought, .callers,
            "Check whether it is a lock, a limit or a signal.", .analysis),
        Pattern(
            "semaphore-lock-used", .semaphores, "wait() and signal() around guarded state",
            recipe: "Dispatch/DispatchSemaphore.lock", .rote, .state, "withLock of a Mutex.", .analysis),
        Pattern(
            "semaphore-limit-used", .semaphores, "wait() and signal() of a limit",
            recipe: "Dispatch/DispatchSemaphore.limit", .callers, .queues,
            "Replaced by the width of a queue; or acquire() and release() of an AsyncSemaphore.", .analysis),
        Pattern(
            "semaphore-producer", .semaphores, "wait() of a limit in a producer",
            recipe: "Dispatch/DispatchSemaphore.producer", .callers, .queues,
            "Replaced by the width of a queue; or a queue with limited room, for which the producer waits.",
            .analysis),
        Pattern(
            "semaphore-wait", .semaphores, "wait() of a semaphore", recipe: "Dispatch/DispatchSemaphore.signal",
            .thought, .callers, "try await semaphore.acquire() of the bridge, until the semaphore goes.",
            .member(["wait"], of: [.semaphore]), .function(["dispatch_semaphore_wait", "sem_wait"])),
        Pattern(
            "semaphore-signalled", .semaphores, "signal() of a semaphore", recipe: "Dispatch/DispatchSemaphore.signal",
            .rote, .callers, "Changes with its wait().", .member(["signal"], of: [.semaphore]),
            .function(["dispatch_semaphore_signal", "sem_post"])),
        Pattern(
            "semaphore-c", .semaphores, "dispatch_semaphore_create", recipe: "Dispatch/DispatchSemaphore.limit",
            .callers, .callers, "A lock, a limit or a signal, each with its recipe.",
            .function(["dispatch_semaphore_create", "sem_init"])),
        Pattern(
            "semaphore-type", .semaphores, "DispatchSemaphore as a type", recipe: "Dispatch/DispatchSemaphore.limit",
            .callers, .callers, "Changes with the semaphore: an AsyncSemaphore if it is passed on.",
            .named([.semaphore])),
    ]

    /// `DispatchWorkItem`.
    static let workItems: [Pattern] = [
        Pattern(
            "work-item-replaced", .workItems, "Work item that is cancelled and replaced before it runs",
            recipe: "Threads/cancelPreviousPerformRequests", .callers, .leaves, "task.cancel(), then a new one.",
            .analysis),
        Pattern(
            "work-item-notify", .workItems, "notify, wait() of a work item", recipe: "Dispatch/DispatchWorkItem.notify",
            .callers, .leaves, "dependencies:, or await.", .member(["notify", "wait"], of: [.workItem]),
            .function(["dispatch_block_notify", "dispatch_block_wait"])),
        Pattern(
            "work-item-cancel", .workItems, "cancel() of a work item", recipe: "Dispatch/DispatchWorkItem.cancel",
            .rote, .leaves, "operation.cancel().", .member(["cancel", "isCancelled"], of: [.workItem]),
            .function(["dispatch_block_cancel", "dispatch_block_testcancel"])),
        Pattern(
            "work-item-perform", .workItems, "perform() of a work item", recipe: "Operations/start", .rote, .leaves,
            "try operation.start().", .member(["perform"], of: [.workItem])),
        Pattern(
            "work-item", .workItems, "DispatchWorkItem", recipe: "Dispatch/DispatchWorkItem.cancel", .rote, .leaves,
            "TaskOperation { … }.", .made([.workItem]), .function(["dispatch_block_create"])),
        Pattern(
            "work-item-type", .workItems, "DispatchWorkItem as a type", recipe: "Dispatch/DispatchWorkItem.cancel",
            .rote, .leaves, "A TaskOperation, or a Task.", .named([.workItem])),
    ]

    /// Dispatch sources, by kind.
    static let sources: [Pattern] = [
        Pattern(
            "source-timer", .sources, "makeTimerSource", recipe: "Dispatch/makeTimerSource", .callers, .leaves,
            "timerEvents.", .member(["makeTimerSource"], of: [.source]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_TIMER")])),
        Pattern(
            "source-signal", .sources, "makeSignalSource", recipe: "Dispatch/makeSignalSource", .callers, .leaves,
            "signalEvents.", .member(["makeSignalSource"], of: [.source]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_SIGNAL")])),
        Pattern(
            "source-descriptor", .sources, "makeReadSource, makeWriteSource", recipe: "Dispatch/makeReadSource",
            .callers, .leaves, "readEvents, writeEvents.",
            .member(["makeReadSource", "makeWriteSource"], of: [.source]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_READ")]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_WRITE")])),
        Pattern(
            "source-process", .sources, "makeProcessSource, waitpid, waitUntilExit",
            recipe: "Dispatch/makeProcessSource", .callers,
            .leaves, "processExit.", .member(["makeProcessSource"], of: [.source]),
            .member(["waitUntilExit"], of: [.process], when: [.called]), .message(["waitUntilExit"]),
            .function(["waitpid", "waitid"], when: [.called, .free]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_PROC")])),
        Pattern(
            "source-custom", .sources, "makeUserDataAddSource", recipe: "Dispatch/makeUserDataAddSource", .callers,
            .leaves, "An AsyncStream, or userDataAddEvents.",
            .member(["makeUserDataAddSource", "makeUserDataOrSource", "makeUserDataReplaceSource"], of: [.source]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_DATA_ADD")]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_DATA_OR")]),
            .function(["dispatch_source_create"], when: [.mentions("DISPATCH_SOURCE_TYPE_DATA_REPLACE")])),
        Pattern(
            "source-other", .sources, "Sources of files, memory pressure and Mach ports",
            recipe: "Dispatch/makeUserDataAddSource", .callers, .leaves,
            "The same source, and DispatchSource.events(of:) of the bridge.",
            .member(
                [
                    "makeFileSystemObjectSource", "makeMemoryPressureSource", "makeMachSendSource",
                    "makeMachReceiveSource",
                ], of: [.source]), .function(["dispatch_source_create"])),
        Pattern(
            "source-suspend", .sources, "suspend(), resume() of a source", recipe: "Dispatch/DispatchSource.suspend",
            .thought, .leaves,
            "A sequence cannot be suspended: events wait until the loop requests them. Leave the loop, or keep the source.",
            .member(["suspend"], of: [.source]), .function(["dispatch_suspend"])),
        Pattern(
            "source-schedule", .sources, "schedule of a timer source", recipe: "Dispatch/DispatchSourceTimer.schedule",
            .rote, .leaves, "The arguments of timerEvents.",
            .member(["schedule", "scheduleOneshot", "scheduleRepeating"], of: [.source]),
            .function(["dispatch_source_set_timer"])),
        Pattern(
            "source-handler", .sources, "Handlers, activation and end of a source",
            recipe: "TaskOperations.docc/Members#calls-of-dispatch", .rote, .leaves,
            "The body of the loop over its events; the loop's end.",
            .member(
                [
                    "setEventHandler", "setCancelHandler", "setRegistrationHandler", "activate", "resume", "cancel",
                    "isCancelled", "data", "add", "or", "replace", "setTarget",
                ], of: [.source]),
            .function([
                "dispatch_source_set_event_handler", "dispatch_source_cancel", "dispatch_source_set_cancel_handler",
                "dispatch_source_get_data", "dispatch_source_merge_data", "dispatch_source_testcancel",
                "dispatch_resume", "dispatch_activate",
            ])),
        Pattern(
            "source-type", .sources, "Dispatch source as a type",
            recipe: "TaskOperations.docc/Members#calls-of-dispatch",
            .rote, .leaves, "Changes with the source: the task that iterates over its events.", .named([.source])),
    ]
}
