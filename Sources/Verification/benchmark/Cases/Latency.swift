import Foundation
import TaskOperations

extension Case {
    static func latency(_ variant: String, _ part: Double) -> Case {
        Case(
            "latency", variant: variant, "added to an idle queue from the main thread, until its body starts",
            sizes: [1000],
            subjects: [
                Subject(.taskOperationQueue) { count in
                    let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                    return await Probe.measure(count, part) { probe in
                        probe.start()
                        queue.addOperation { probe.arrive() }
                    }
                },
                Subject(.operationQueue) { count in
                    let queue = OperationQueue(width: 2)
                    return await Probe.measure(count, part) { probe in
                        probe.start()
                        queue.addOperation { probe.arrive() }
                    }
                },
                Subject(.dispatchQueue) { count in
                    let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
                    return await Probe.measure(count, part) { probe in
                        probe.start()
                        queue.async { probe.arrive() }
                    }
                },
                Subject(.task) { count in
                    await Probe.measure(count, part) { probe in
                        probe.start()
                        Task { probe.arrive() }
                    }
                },
            ])
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
    static func measure(
        _ count: Int, _ part: Double, attempt: @escaping @Sendable (Probe) -> Void
    ) async -> Measurement {
        await mainThread.run {
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
