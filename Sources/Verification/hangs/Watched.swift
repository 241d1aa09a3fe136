import Foundation
import Synchronization
import TaskDump

/// Programs for the watch and for signals: they end by themselves.
enum Watched {
    static let programs: [String: @Sendable () async -> Void] = [
        "watched": {
            TaskDump.watch(after: .milliseconds(400))
            Task { await lostContinuation() }
            await pause(2)
        },
        "computes": {
            TaskDump.watch(after: .milliseconds(300))
            let end = Date(timeIntervalSinceNow: 1.5)
            _ = await Task.detached {
                var sum = 0
                while Date() < end { sum &+= 1 }
                return sum
            }.value
        },
        "sleeps": {
            TaskDump.watch(after: .milliseconds(300))
            try? await Task.sleep(for: .seconds(1.5))
        },
        "poolIsFull": {
            TaskDump.watch(after: .milliseconds(400))
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 2 {
                Task.detached { blockThread(2) }
            }
            await pause(2.5)
        },
        "poolComputes": {
            TaskDump.watch(after: .milliseconds(400))
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 2 {
                Task.detached { compute(for: 2) }
            }
            await pause(2.5)
        },
        "children": {
            TaskDump.watch(after: .milliseconds(300))
            async let sum = slowWork()
            print(await sum)
        },
        "watchedTwice": {
            TaskDump.watch(after: .milliseconds(400))
            TaskDump.watch(after: .milliseconds(400))
            Task { await lostContinuation() }
            await pause(2)
        },
        "signals": {
            TaskDump.install(on: .user1)
            Task { await waitsForSignals() }
            try? await Task.sleep(for: .milliseconds(100))
            for _ in 0..<3 {
                kill(getpid(), SIGUSR1)
                try? await Task.sleep(for: .milliseconds(1_000))
            }
        },
        "registered": {
            // The task is older than the dump's list.
            let task = Task { await lostContinuation() }
            registered.withLock { $0 = unsafeBitCast(task, to: UInt.self) }
            while !TaskDump.capture().tasks.contains(where: { $0.wait == .continuation }) { await Task.yield() }
            print(TaskDump.capture())
        },
    ]

    /// Suspends the main task while a thread sleeps, so that no task sleeps.
    private static func pause(_ seconds: Double) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: seconds)
                continuation.resume()
            }
        }
    }

    @inline(never)
    static func waitsForSignals() async {
        await withCheckedContinuation { forgotten.add($0) }
        print("not reached")
    }
}

/// The address of the only task in the list of the runtime.
private let registered = Mutex<UInt>(0)

/// Stands for the list of the runtime of Swift 6.5, which older ones do not have.
@_cdecl("_swift_concurrency_debug_task_registryWalk")
func walkRegistry(
    _ visit: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void,
    _ list: UnsafeMutableRawPointer?
) {
    if let task = UnsafeMutableRawPointer(bitPattern: registered.withLock(\.self)) { visit(task, list) }
}

private func compute(for seconds: Double) {
    let end = Date(timeIntervalSinceNow: seconds)
    while Date() < end {}
}

/// Waits 150 times for other threads, for 10 ms each.
private func slowWork() async -> Int {
    var sum = 0
    for number in 0..<150 {
        sum += await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { continuation.resume(returning: number) }
        }
    }
    return sum
}

private func blockThread(_ seconds: Double) { Thread.sleep(forTimeInterval: seconds) }
