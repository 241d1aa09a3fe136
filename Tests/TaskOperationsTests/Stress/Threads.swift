import Foundation
import TaskOperationsTesting

/// Runs work on several new threads at once, and returns when all of them have ended.
func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) async {
    let ends = Gate()
    let start = DispatchSemaphore(value: 0)
    for number in 0..<count {
        Thread.detachNewThread {
            start.wait()
            work(number)
            Task { await ends.pass() }
        }
    }
    for _ in 0..<count { start.signal() }
    await ends.waitForArrivals(count)
    ends.open()
}
