import Simulation
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

@Suite("The states of the engine in memory and of consumers", .endsInTime)
struct InMemoryEngineTests {
    @Test("a payload that another one replaces is released without the lock of the engine")
    func release() async throws {
        let engine = InMemoryEngine<Calling>(lease: .seconds(30))
        let counts = Recorder<Int>()
        let send = {
            _ = engine.send(
                Calling { counts.record(engine.count) }, options: EnqueueOptions(identity: "one", replaces: true))
        }
        send()
        send()
        #expect(counts.events == [1])
        // A held one is released when its attempt ends.
        var held = try await engine.deliveries().first { _ in true }
        send()
        #expect(counts.events == [1])
        try await held?.reject(retryAfter: .zero)
        held = nil
        #expect(counts.events.count == 2)
    }

    @Test("a timeline has the earliest time first, however times are set, changed and removed", arguments: 0..<20)
    func timeline(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (timeline, times) = (Timeline(), [Int: Duration]())
        for _ in 0..<2000 {
            let number = generator.number(below: 50)
            let time = generator.number(below: 3) == 0 ? nil : Duration.seconds(generator.number(below: 30))
            timeline[number] = time
            times[number] = time
            let first = times.min { ($0.value, $0.key) < ($1.value, $1.key) }
            #expect(timeline.first?.time == first?.value && timeline.first?.number == first?.key)
            #expect(timeline[number] == time)
        }
    }

    @Test("the engine takes constant time for each delivery, although it holds an older one")
    func heldDelivery() {
        expectNearlyLinear { count in
            var state = InMemoryEngineState<Int>(lease: .seconds(30))
            _ = state.send(0)
            _ = state.pull(at: .zero)
            for number in 1...count {
                _ = state.send(number)
                if case .delivery(let id, _, _, let receipt) = state.pull(at: .microseconds(number)) {
                    _ = try? state.acknowledge(id, receipt, at: .microseconds(number))
                }
            }
            #expect(state.count == 1)
        }
    }

    @Test("a consumer takes logarithmic time for each check of a lease")
    func checks() {
        expectNearlyLinear { count in
            var state = ConsumerState<Int>()
            for number in 1...count { _ = state.pulled(number, key: nil, firstLook: .microseconds(number)) }
            for number in 1...count where state.look(at: .microseconds(number)).due != [number] {
                Issue.record("the check of \(number) is missing")
            }
        }
    }

    @Test("a consumer takes constant time for each delivery of a key")
    func keys() {
        expectNearlyLinear { count in
            var state = ConsumerState<Int>()
            for number in 1...count { _ = state.pulled(number, key: "key", firstLook: .zero) }
            for number in (2...count).reversed() { _ = state.operationEnded(number) }
            #expect(state.operationEnded(1) == Array(1...count))
        }
    }

    @Test("an acknowledgement wakes no worker that waits for a payload")
    func idleWorkers() throws {
        /// The number of jobs while one worker acknowledges 100 payloads, and others wait.
        func jobs(idleCount: Int) throws -> Int {
            let executor = SeededExecutor(seed: 1)
            return try executor.run {
                let engine = InMemoryEngine<Int>(lease: .seconds(30), clock: SimulatedClock(on: executor))
                for number in 0..<100 { engine.send(number) }
                var (iterator, held) = (engine.deliveries().makeAsyncIterator(), [InMemoryDelivery<Int>]())
                while held.count < 100 { held.append(try #require(try await iterator.next())) }
                let idle = (0..<idleCount).map { _ in
                    Task(executorPreference: executor) {
                        var iterator = engine.deliveries().makeAsyncIterator()
                        return try await iterator.next()
                    }
                }
                for _ in 0..<1000 { await Task.yield() }
                let before = executor.jobsRun
                for delivery in held {
                    try await delivery.acknowledge()
                    for _ in 0..<10 { await Task.yield() }
                }
                let jobs = executor.jobsRun - before
                engine.finish()
                for task in idle { #expect(try await task.value == nil) }
                return jobs
            }
        }
        let (alone, withOthers) = (try jobs(idleCount: 0), try jobs(idleCount: 20))
        #expect(withOthers <= alone + 20)
    }

    /// Expects that eight times as many steps take less than 25 times as long. Quadratic steps take 64 times as long.
    private func expectNearlyLinear(_ run: (_ count: Int) -> Void) {
        let ratio = bestRatio(within: 25) { isLarge in
            processorTime { run(isLarge ? 8000 : 1000) }
        }
        #expect(ratio < 25)
    }
}

/// Calls a function when it is released.
private final class Calling: Sendable {
    private let call: @Sendable () -> Void

    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    deinit { call() }
}
