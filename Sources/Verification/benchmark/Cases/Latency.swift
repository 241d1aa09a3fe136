import Foundation
import Synchronization
import TaskOperations

extension Case {
    /// - Parameter part: The quantile of the latencies, such as 0.5 for the median.
    static func latency(_ variant: String, _ part: Double) -> Case {
        Case(
            "latency", variant: variant, "added to an idle queue from the main thread, until its body starts",
            sizes: [1000], subjects: latencySubjects(part))
    }

    /// The sizes leave ten latencies above the 99.9th percentile.
    static let rareLatency = Case(
        "latency", variant: "99.9th percentile", "as above", sizes: [10_000], isLong: true,
        subjects: latencySubjects(0.999, mostRounds: 5))

    static func latencyUnderLoad(busyThreads: Int) -> Case {
        Case(
            "latency-under-load", variant: "\(busyThreads) busy threads",
            "as latency, while threads compete for the processors (99.9th percentile)", sizes: [5000], isLong: true,
            subjects: latencySubjects(0.999, mostRounds: 3, busyThreads: busyThreads))
    }

    private static func latencySubjects(
        _ part: Double, mostRounds: Int = .max, busyThreads: Int = 0
    ) -> [Subject] {
        func subject<Queue: Sendable>(
            _ name: SubjectName, _ makeQueue: @escaping @Sendable () -> Queue,
            add: @escaping @Sendable (Queue, Probe) -> Void
        ) -> Subject {
            Subject(name, mostRounds: mostRounds) { count in
                let queue = makeQueue()
                return await Probe.measure(count, part, busyThreads: busyThreads) { probe in
                    probe.start()
                    add(queue, probe)
                }
            }
        }
        return [
            subject(.taskOperationQueue, { TaskOperationQueue(maxConcurrentOperationCount: 2) }) { queue, probe in
                queue.addOperation { probe.arrive() }
            },
            subject(.operationQueue, { OperationQueue(width: 2) }) { queue, probe in
                queue.addOperation { probe.arrive() }
            },
            subject(.dispatchQueue, { DispatchQueue(label: "benchmark", attributes: .concurrent) }) { queue, probe in
                queue.async { probe.arrive() }
            },
            subject(.task, {}) { _, probe in
                Task { probe.arrive() }
            },
        ]
    }

    /// One operation executes throughout, and another waits until the width changes from 1 to 2.
    static let widthChange = Case(
        "width-change", "pending, until its body starts because the width is raised (median)", sizes: [1000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
                let gate = Gate()
                let blocker = queue.addOperation { await gate.pass() }
                while !blocker.isExecuting { await Task.yield() }
                let measurement = await Probe.measure(count, 0.5) { probe in
                    queue.maxConcurrentOperationCount = 1
                    queue.addOperation { probe.arrive() }
                    probe.start()
                    queue.maxConcurrentOperationCount = 2
                }
                gate.open()
                try await queue.waitUntilAllOperationsAreFinished()
                return measurement
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 1)
                let end = DispatchSemaphore(value: 0)
                queue.addOperation { end.wait() }
                let measurement = await Probe.measure(count, 0.5) { probe in
                    queue.maxConcurrentOperationCount = 1
                    queue.addOperation { probe.arrive() }
                    probe.start()
                    queue.maxConcurrentOperationCount = 2
                }
                end.signal()
                await mainThread.run { queue.waitUntilAllOperationsAreFinished() }
                return measurement
            },
        ])

    static let suspendResume = Case(
        "suspend-resume", "ready in a suspended queue, until its body starts because that is resumed (median)",
        sizes: [1000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                return await Probe.measure(count, 0.5) { probe in
                    queue.isSuspended = true
                    queue.addOperation { probe.arrive() }
                    probe.start()
                    queue.isSuspended = false
                }
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2)
                return await Probe.measure(count, 0.5) { probe in
                    queue.isSuspended = true
                    queue.addOperation { probe.arrive() }
                    probe.start()
                    queue.isSuspended = false
                }
            },
            Subject(.dispatchQueue) { count in
                let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
                return await Probe.measure(count, 0.5) { probe in
                    queue.suspend()
                    queue.async { probe.arrive() }
                    probe.start()
                    queue.resume()
                }
            },
        ])
}

/// Measures the time from an instant on one thread to an instant on another.
private final class Probe: Sendable {
    private struct Times: Sendable {
        var start = ContinuousClock.now
        var arrival = ContinuousClock.now
    }

    private let times = Lock(Times())
    private let arrived = DispatchSemaphore(value: 0)

    func start() { times.withLock { $0.start = .now } }

    func arrive() {
        let now = ContinuousClock.now
        times.withLock { $0.arrival = now }
        arrived.signal()
    }

    /// The quantile of the times of many attempts, made on the main thread. A pause precedes each attempt, so that the
    /// previous body has ended and its thread is idle.
    ///
    /// - Parameter busyThreads: The number of threads that compute during all attempts.
    static func measure(
        _ count: Int, _ part: Double, busyThreads: Int = 0, attempt: @escaping @Sendable (Probe) -> Void
    ) async -> Measurement {
        await mainThread.run {
            let load = BusyThreads(busyThreads)
            defer { load.end() }
            let probe = Probe()
            let latencies = (0..<count).map { _ in
                Thread.sleep(forTimeInterval: 100e-6)
                attempt(probe)
                probe.arrived.wait()
                return probe.times.withLock { $0.start.duration(to: $0.arrival).nanoseconds }
            }
            return Measurement(nsPerOperation: quantile(part, of: latencies))
        }
    }
}

/// Threads that compute until `end` is called.
private final class BusyThreads: Sendable {
    private let count: Int
    private let isEnding = Atomic(false)
    private let steps = DispatchSemaphore(value: 0)

    /// Returns when all threads compute.
    init(_ count: Int) {
        self.count = count
        for _ in 0..<count {
            Thread.detachNewThread {
                self.steps.signal()
                while !self.isEnding.load(ordering: .relaxed) {}
                self.steps.signal()
            }
        }
        awaitStep()
    }

    /// Returns when all threads have stopped computing.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        awaitStep()
    }

    private func awaitStep() {
        for _ in 0..<count { steps.wait() }
    }
}
