#if os(Linux) || os(macOS)
    import TaskOperations
    import TaskOperationsTesting
    import TestSupport
    import Testing

    /// Each test runs in a separate process, because the allocator's counts include the work of all tests.
    @Suite("Growth: ended work keeps no memory", .inTurns, .prompt, .endsInTime)
    struct MemoryGrowthTests {
        @Test("Cancelled operations of a suspended queue")
        func cancelledOperations() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue(.init(isSuspended: true))
                let kept = bytesKept(by: 20_000) { queue.addOperation {}.cancel() }
                #expect(kept < 4, "\(kept) bytes")
            }
        }

        @Test("An edge that is made and taken away")
        func removedEdges() async {
            await #expect(processExitsWith: .success) {
                let (first, last) = (TaskOperation {}, TaskOperation {})
                let kept = bytesKept(by: 20_000) {
                    try! last.addDependency(first)
                    try! last.removeDependency(first)
                }
                #expect(kept < 1, "\(kept) bytes")
                #expect(!first.isFinished && !last.isFinished)
            }
        }

        @Test("Cancelled barriers of a suspended queue, and cancelled operations between them")
        func cancelledBarriers() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue(.init(isSuspended: true))
                let first = queue.addOperation {}
                let barriers = bytesKept(by: 20_000) { queue.addBarrier {}.cancel() }
                #expect(barriers < 4, "\(barriers) bytes")
                let kept = bytesKept(by: 20_000) {
                    queue.addBarrier {}.cancel()
                    queue.addOperation {}.cancel()
                }
                #expect(kept < 4, "\(kept) bytes")
                #expect(!first.isFinished)
            }
        }
    }
#endif
