#if os(Linux) || os(macOS)
    import TaskOperations
    import Testing

    // Removals while other operations remain, and the memory that remains after a burst.
    extension MemoryGrowthTests {
        @Test("Cancelled dependents of an operation that waits")
        func cancelledDependents() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue(.init(isSuspended: true))
                let first = queue.addOperation {}
                let kept = bytesKept(by: 20_000) { queue.addOperation(dependencies: [first]) {}.cancel() }
                #expect(kept < 4, "\(kept) bytes")
                #expect(!first.isFinished)
            }
        }

        @Test("An edge between operations of a queue that is made and taken away")
        func removedEdgesInAQueue() async {
            await #expect(processExitsWith: .success) {
                let (first, last) = (TaskOperation {}, TaskOperation {})
                let queue = TaskOperationQueue(.init(isSuspended: true))
                func edge() {
                    try! last.addDependency(first)
                    try! last.removeDependency(first)
                }
                try queue.addOperations([last, first])
                let added = bytesKept(by: 20_000, edge)
                #expect(added < 1, "\(added) bytes")
                queue.addOperation(dependencies: [last]) {}
                let awaited = bytesKept(by: 20_000, edge)
                #expect(awaited < 1, "\(awaited) bytes")
                #expect(!first.isFinished && !last.isFinished)
            }
        }

        @Test("A burst of operations that is over")
        func burst() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue(.init(isSuspended: true))
                for _ in 0..<100 { queue.addOperation {} }
                queue.cancelAllOperations()
                let before = heapInUse ?? 0
                for _ in 0..<50_000 { queue.addOperation {} }
                queue.cancelAllOperations()
                #expect(queue.operationCount == 0)
                let kept = (heapInUse ?? 0) - before
                #expect(kept < 200_000, "\(kept) bytes")
            }
        }

        @Test("A burst of operations that ran")
        func burstThatRan() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue(.init(isSuspended: true))
                for _ in 0..<100 { queue.addOperation {} }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
                let before = heapInUse ?? 0
                queue.isSuspended = true
                for _ in 0..<50_000 { queue.addOperation {} }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
                let kept = (heapInUse ?? 0) - before
                #expect(kept < 200_000, "\(kept) bytes")
            }
        }
    }
#endif
