import Foundation
import TaskDump

/// Prints times of dumps and of tasks.
enum Measure {
    static func dumps() async {
        let clock = ContinuousClock()
        _ = TaskDump.capture()
        for number in 0..<10_000 {
            Task(name: number % 100 == 0 ? "task \(number)" : nil) { await lostContinuation() }
        }
        try? await Task.sleep(for: .milliseconds(500))
        for title in ["first", "next", "next"] {
            var count = 0
            let time = clock.measure {
                let dump = TaskDump.capture()
                count = dump.description.count * dump.tasks.count
            }
            print("\(title) dump of 10,000 tasks: \(time)", count > 0 ? "" : "(none)")
        }
    }

    /// Measures tasks with or without the list. The list cannot end, so each measurement is a process.
    static func tasks(_ count: Int, isListing: Bool) async {
        if isListing { _ = TaskDump.capture() }
        let time = await Task.detached {
            await ContinuousClock().measure {
                for _ in 0..<count { await Task.detached {}.value }
            }
        }.value
        print("\(time / count)")
    }
}
