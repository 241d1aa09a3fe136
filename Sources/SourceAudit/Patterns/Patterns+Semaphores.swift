extension Patterns {
    /// `DispatchSemaphore`, told apart by what it is for.
    static let semaphores: [Pattern] = [
        Pattern(
            "semaphore-lock", .semaphores, "Semaphore in place of a lock", recipe: "a-semaphore-as-a-lock", .callers,
            .state, "A Mutex, or an actor.", .analysis),
        Pattern(
            "semaphore-signal", .semaphores, "Semaphore that a callback signals", recipe: "a-semaphore-as-a-signal",
            .thought, .callers, "A continuation; the caller becomes async.", .analysis),
        Pattern(
            "semaphore-limit", .semaphores, "Semaphore as a limit", recipe: "a-semaphore-as-a-limit", .callers, .queues,
            "The width of a queue, or an AsyncSemaphore.", .analysis),
        Pattern(
            "semaphore-unknown", .semaphores, "Semaphore whose use is not seen", recipe: "a-semaphore-as-a-limit",
            .thought, .callers, "Look whether it is a lock, a limit or a signal.", .analysis),
        Pattern(
            "semaphore-lock-used", .semaphores, "wait() and signal() around what a semaphore guards",
            recipe: "a-semaphore-as-a-lock", .rote, .state, "withLock of a Mutex.", .analysis),
        Pattern(
            "semaphore-limit-used", .semaphores, "wait() and signal() of a limit", recipe: "a-semaphore-as-a-limit",
            .callers, .queues, "Go with the width of a queue; acquire() and release() of an AsyncSemaphore.", .analysis),
        Pattern(
            "semaphore-wait", .semaphores, "wait() of a semaphore", recipe: "a-semaphore-as-a-signal", .thought,
            .callers, "try await semaphore.acquire() of the bridge, until the semaphore goes.",
            .member(["wait"], of: [.semaphore]), .function(["dispatch_semaphore_wait", "sem_wait"])),
        Pattern(
            "semaphore-signalled", .semaphores, "signal() of a semaphore", recipe: "a-semaphore-as-a-signal", .rote,
            .callers, "Goes with its wait().", .member(["signal"], of: [.semaphore]),
            .function(["dispatch_semaphore_signal", "sem_post"])),
        Pattern(
            "semaphore-c", .semaphores, "dispatch_semaphore_create", recipe: "a-semaphore-as-a-limit", .callers,
            .callers, "A lock, a limit or a signal, each with its recipe.",
            .function(["dispatch_semaphore_create", "sem_init"])),
    ]

    /// `DispatchWorkItem`.
    static let workItems: [Pattern] = [
        Pattern(
            "work-item-replaced", .workItems, "Work item that is cancelled and replaced before it runs",
            recipe: "perform-and-cancel", .callers, .leaves, "task.cancel(), then a new one.", .analysis),
        Pattern(
            "work-item-notify", .workItems, "notify, wait() of a work item", recipe: "a-work-item-that-notifies",
            .callers, .leaves, "dependencies:, or await.", .member(["notify", "wait"], of: [.workItem]),
            .function(["dispatch_block_notify", "dispatch_block_wait"])),
        Pattern(
            "work-item-cancel", .workItems, "cancel() of a work item", recipe: "a-work-item-that-is-cancelled", .rote,
            .leaves, "operation.cancel().", .member(["cancel", "isCancelled"], of: [.workItem]),
            .function(["dispatch_block_cancel", "dispatch_block_testcancel"])),
        Pattern(
            "work-item-perform", .workItems, "perform() of a work item", recipe: "starting-by-hand", .rote, .leaves,
            "try operation.start().", .member(["perform"], of: [.workItem])),
        Pattern(
            "work-item", .workItems, "DispatchWorkItem", recipe: "a-work-item-that-is-cancelled", .rote, .leaves,
            "TaskOperation { … }.", .made([.workItem]), .function(["dispatch_block_create"])),
    ]

    /// Dispatch sources, by kind.
    static let sources: [Pattern] = [
        Pattern(
            "source-timer", .sources, "makeTimerSource", recipe: "a-timer-source", .callers, .leaves, "timerEvents.",
            .member(["makeTimerSource"], of: [.source])),
        Pattern(
            "source-signal", .sources, "makeSignalSource", recipe: "a-signal-source", .callers, .leaves,
            "signalEvents.",
            .member(["makeSignalSource"], of: [.source])),
        Pattern(
            "source-descriptor", .sources, "makeReadSource, makeWriteSource", recipe: "a-descriptor-source", .callers,
            .leaves, "readEvents, writeEvents.", .member(["makeReadSource", "makeWriteSource"], of: [.source])),
        Pattern(
            "source-process", .sources, "makeProcessSource, waitpid", recipe: "a-process-source", .callers, .leaves,
            "processExit.", .member(["makeProcessSource"], of: [.source]),
            .function(["waitpid", "waitid"], when: [.called])),
        Pattern(
            "source-custom", .sources, "makeUserDataAddSource", recipe: "a-custom-source", .callers, .leaves,
            "An AsyncStream, or userDataAddEvents.",
            .member(
                ["makeUserDataAddSource", "makeUserDataOrSource", "makeUserDataReplaceSource"], of: [.source])),
        Pattern(
            "source-other", .sources, "Sources of files, memory pressure and ports", recipe: "calls-of-dispatch",
            .callers, .leaves, "The same, with a handler that feeds an AsyncStream.",
            .member(
                [
                    "makeFileSystemObjectSource", "makeMemoryPressureSource", "makeMachSendSource",
                    "makeMachReceiveSource",
                ], of: [.source]), .function(["dispatch_source_create"])),
        Pattern(
            "source-suspend", .sources, "suspend(), resume() of a source", recipe: "a-source-that-is-suspended",
            .thought, .leaves,
            "A sequence is not suspended: what is not asked for waits. Leave the loop, or keep the source.",
            .member(["suspend"], of: [.source]), .function(["dispatch_suspend"])),
        Pattern(
            "source-schedule", .sources, "schedule of a timer source", recipe: "a-timer-that-is-rearmed", .rote,
            .leaves,
            "The arguments of timerEvents.",
            .member(["schedule", "scheduleOneshot", "scheduleRepeating"], of: [.source]),
            .function(["dispatch_source_set_timer"])),
        Pattern(
            "source-handler", .sources, "Handlers, activation and end of a source", recipe: "calls-of-dispatch", .rote,
            .leaves, "The body of the loop over its events; the loop's end.",
            .member(
                [
                    "setEventHandler", "setCancelHandler", "setRegistrationHandler", "activate", "resume", "cancel",
                    "isCancelled", "data", "add", "or", "replace",
                ], of: [.source]),
            .function(
                ["dispatch_source_set_event_handler", "dispatch_source_cancel", "dispatch_source_set_cancel_handler"])),
    ]
}
