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
            await fillPool { blockThread(until: $0) }
        },
        "poolComputes": {
            TaskDump.watch(after: .milliseconds(400))
            await fillPool { end in while Date() < end {} }
        },
        "children": {
            TaskDump.watch(after: .milliseconds(300))
            async let sum = slowWork()
            print(await sum)
        },
        "regular": {
            TaskDump.watch(after: .milliseconds(400))
            let (numbers, numbersEnd) = AsyncStream<Int>.makeStream()
            Thread.detachNewThread {
                for number in 0..<40 {
                    Thread.sleep(forTimeInterval: 0.05)
                    numbersEnd.yield(number)
                }
                numbersEnd.finish()
            }
            // The task waits in the same place each time.
            for await _ in numbers {}
        },
        "watchedAgain": {
            TaskDump.watch(after: .seconds(Int64.max))
            for _ in 0..<10 { TaskDump.watch(after: .milliseconds(400)) }
            Task { await lostContinuation() }
            await pause(2)
        },
        "forked": {
            TaskDump.install(on: .user1)
            typealias Fork = @convention(c) () -> pid_t
            // Swift declares the function as unavailable. The child calls only functions that a handler may call.
            let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
            let child = fork()
            if child == 0 {
                kill(getpid(), SIGUSR1)
                _exit(0)
            }
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            await pause(0.5)
        },
        "timedWait": {
            _ = TaskDump.capture()
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    print("The wait ended with \(waitsForTime() == ETIMEDOUT ? "its time" : "an interruption").")
                    timedWaitIsDone.store(true, ordering: .releasing)
                }
                Thread.detachNewThread {
                    while !timedWaitIsDone.load(ordering: .acquiring) {
                        // The other thread has begun to wait.
                        Thread.sleep(forTimeInterval: 0.3)
                        _ = TaskDump.capture()
                    }
                    continuation.resume()
                }
            }
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
            await registerOldTask()
            print(TaskDump.capture())
        },
        "endedInRegistry": {
            await registerOldTask()
            // The runtime lists the task once more, when the dump copies its list.
            remainingWalks.store(2, ordering: .relaxed)
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

    /// Puts a task into the list of the runtime that is older than the dump's list.
    private static func registerOldTask() async {
        let task = Task { await lostContinuation() }
        registered.withLock { $0 = unsafeBitCast(task, to: UInt.self) }
        while !TaskDump.capture().tasks.contains(where: { $0.wait == .continuation }) { await Task.yield() }
    }

    /// Runs more tasks than the pool has threads, for two seconds. All of them end at once: the pool would otherwise run a job
    /// of the watch between two of them, and be full again.
    private static func fillPool(_ work: @escaping @Sendable (Date) -> Void) async {
        let end = Date(timeIntervalSinceNow: 2)
        let tasks = (0..<ProcessInfo.processInfo.activeProcessorCount + 2).map { _ in
            Task.detached { work(end) }
        }
        for task in tasks { await task.value }
    }

    @inline(never)
    static func waitsForSignals() async {
        await withCheckedContinuation { forgotten.add($0) }
        print("not reached")
    }
}

private let timedWaitIsDone = Atomic(false)

/// Waits for a semaphore of the C library for a second. Returns the error that ended the wait.
private func waitsForTime() -> Int32 {
    var (semaphore, end) = (sem_t(), timespec())
    sem_init(&semaphore, 0, 0)
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_sec += 1
    return sem_timedwait(&semaphore, &end) == 0 ? 0 : errno
}

/// The address of the only task in the list of the runtime.
private let registered = Mutex<UInt>(0)
/// The number of walks after which the task is no longer in that list. A dump needs two to copy the list.
private let remainingWalks = Atomic(Int.max)

/// Stands for the list of the runtime of Swift 6.5, which older ones do not have.
@_cdecl("_swift_concurrency_debug_task_registryWalk")
func walkRegistry(
    _ visit: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void,
    _ list: UnsafeMutableRawPointer?
) {
    if remainingWalks.subtract(1, ordering: .relaxed).oldValue <= 0 { return }
    if let task = UnsafeMutableRawPointer(bitPattern: registered.withLock(\.self)) { visit(task, list) }
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

private func blockThread(until end: Date) { Thread.sleep(until: end) }
