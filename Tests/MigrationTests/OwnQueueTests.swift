#if os(Linux)
    import Dispatch
    import TaskOperationsExpectations
    import Testing

    /// What the recipe `sync-on-own-queue` shows with a wait that gives up.
    @Suite("A Dispatch queue that waits for itself", .inTurns, .prompt, .timeLimit(.minutes(10)))
    struct OwnQueueTests {
        @Test("Dispatch stops the process")
        func syncOnOwnQueue() async {
            await #expect(processExitsWith: .failure) {
                let queue = DispatchQueue(label: "own")
                queue.sync { queue.sync {} }
            }
        }
    }
#endif
