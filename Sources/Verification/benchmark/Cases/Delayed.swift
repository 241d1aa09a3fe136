import Dispatch
import TaskOperations
import TaskOperationsExtras

extension Case {
    /// The time and memory of adding operations that wait for their delays. The deadlines are an hour away and
    /// unordered.
    static let delayed = Case(
        "delayed", "empty, waits for a deadline of its own", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue()
                let measurement = await weigh(count) {
                    await mainThread.run {
                        for number in 0..<count {
                            queue.addOperation(.delay(.seconds(3600) + .milliseconds(offset(number)))) {}
                        }
                    }
                }
                queue.cancelAllOperations()
                try await queue.waitUntilAllOperationsAreFinished()
                return measurement
            },
            // Dispatch can cancel submitted work only if each piece is a work item.
            Subject(.dispatchQueue) { count in
                let queue = DispatchQueue(label: "delayed", attributes: .concurrent)
                let isCancelled = AsyncGroup()
                let measurement = await weigh(count) {
                    await mainThread.run {
                        for number in 0..<count {
                            isCancelled.enter()
                            queue.asyncAfter(deadline: .now() + .milliseconds(2000 + offset(number) / 100)) {
                                isCancelled.leave()
                            }
                        }
                    }
                }
                await isCancelled.wait()
                return measurement
            },
        ])
}

/// A delay of up to 100,000 milliseconds. The delays of consecutive numbers are far apart.
private func offset(_ number: Int) -> Int { (number * 7919) % 100_000 }
