import Simulation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Random programs with limits, keys and weights", .computing, .endsInTime)
struct LimitProgramTests {
    /// The claims of program 35545 served each other forever, under the lock of their queue.
    @Test("Limits are never exceeded, no permit is lost, and each program ends")
    func programs() throws {
        for seed in [35_545] + Array(0..<UInt64(isDeep ? 5_000 : 200)) {
            let program = LimitProgram(seed: seed)
            let (excess, free) = try program.run()
            #expect(excess == 0 && free == program.limits.map(\.capacity), "seed \(seed)")
        }
    }
}

/// Operations of several queues and tasks that take permits of some semaphores.
private struct LimitProgram: Sendable {
    struct Limit {
        let capacity: Int
        let perKey: Int?
    }

    struct Need {
        let limit: Int
        let key: Int?
        let weight: Int
    }

    struct Work {
        let queue: Int
        let needs: [Need]
        let priority: TaskPriority
        let yields: Int
        let isCancelled: Bool
        /// Whether the work is a task that takes permits of the first need only.
        let isTask: Bool
    }

    let seed: UInt64
    let limits: [Limit]
    let widths: [Int]
    let works: [Work]
    let hasShare: Bool

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            Limit(
                capacity: .random(in: 1...4, using: &random),
                perKey: Bool.random(using: &random) ? .random(in: 1...2, using: &random) : nil)
        }
        let (queueCount, count) = (Int.random(in: 1...3, using: &random), Int.random(in: 2...12, using: &random))
        self.seed = seed
        self.limits = limits
        widths = (0..<queueCount).map { _ in .random(in: 1...4, using: &random) }
        works = (0..<count).map { _ in
            let needs = limits.indices.filter { _ in Int.random(in: 0..<10, using: &random) < 6 }.map { limit in
                let key = Bool.random(using: &random) ? Int.random(in: 0..<3, using: &random) : nil
                let most = min(limits[limit].capacity, key == nil ? .max : limits[limit].perKey ?? .max)
                return Need(limit: limit, key: key, weight: .random(in: 1...most, using: &random))
            }
            return Work(
                queue: .random(in: 0..<queueCount, using: &random), needs: needs,
                priority: [.low, .medium, .high].randomElement(using: &random)!,
                yields: .random(in: 0..<3, using: &random), isCancelled: Int.random(in: 0..<8, using: &random) == 0,
                isTask: !needs.isEmpty && Int.random(in: 0..<6, using: &random) == 0)
        }
        hasShare = Bool.random(using: &random)
    }

    /// Returns how often a limit was exceeded, and the free permits of each limit at the end.
    func run() throws -> (excess: Int, free: [Int]) {
        let executor = SeededExecutor(seed: seed)
        let use = LimitUse(self)
        return try executor.run {
            let limits = limits.map { AsyncSemaphore(capacity: $0.capacity, perKey: $0.perKey) }
            if hasShare { limits[0].setShare(3, for: 1) }
            let queues = widths.map {
                TaskOperationQueue(.init(maxConcurrentOperationCount: $0, executor: executor))
            }
            var tasks: [Task<Void, any Error>] = []
            for work in works {
                if work.isTask {
                    tasks.append(
                        Task(executorPreference: executor) { try await use.take(work.needs[0], of: limits) })
                    continue
                }
                let needs = work.needs.map { need -> OperationOptions in
                    let limit = limits[need.limit]
                    if let key = need.key { return .limit(limit, key: key, weight: need.weight) }
                    return .limit(limit, weight: need.weight)
                }
                let operation = queues[work.queue].addOperation(
                    needs.reduce(.priority(work.priority)) { [$0, $1] }
                ) {
                    use.add(work.needs, 1)
                    for _ in 0..<work.yields { await Task.yield() }
                    use.add(work.needs, -1)
                }
                if !work.isCancelled { continue }
                await Task.yield()
                operation.cancel()
            }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
            for task in tasks { try await task.value }
            return (use.excess, limits.map(\.available))
        }
    }
}

/// The permits that executing works have.
private final class LimitUse: Sendable {
    private struct State: Sendable {
        var total: [Int]
        var ofKeys: [[Int: Int]]
        var excess = 0
    }

    private let program: LimitProgram
    private let state: Lock<State>

    init(_ program: LimitProgram) {
        self.program = program
        let count = program.limits.count
        state = Lock(State(total: Array(repeating: 0, count: count), ofKeys: Array(repeating: [:], count: count)))
    }

    var excess: Int { state.withLock { $0.excess } }

    func add(_ needs: [LimitProgram.Need], _ sign: Int) {
        state.withLock { state in
            for need in needs {
                let limit = program.limits[need.limit]
                state.total[need.limit] += sign * need.weight
                if state.total[need.limit] > limit.capacity { state.excess += 1 }
                guard let key = need.key else { continue }
                state.ofKeys[need.limit][key, default: 0] += sign * need.weight
                if state.ofKeys[need.limit][key]! > limit.perKey ?? .max { state.excess += 1 }
            }
        }
    }

    func take(_ need: LimitProgram.Need, of limits: [AsyncSemaphore]) async throws {
        let limit = limits[need.limit]
        func work() async {
            add([need], 1)
            await Task.yield()
            add([need], -1)
        }
        if let key = need.key {
            try await limit.withPermit(key: key, weight: need.weight) { await work() }
        } else {
            try await limit.withPermit(weight: need.weight) { await work() }
        }
    }
}
