#if os(Linux)
    import Dispatch
    import TestSupport
    import Testing

    /// The deadlock of the recipe `sync-on-own-queue`, with a wait that times out.
    @Suite("A Dispatch queue that waits for itself", .inTurns, .prompt, .endsInTime)
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
