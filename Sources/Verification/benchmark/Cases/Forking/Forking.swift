import Dispatch
import Synchronization
import TaskOperations
import TaskOperationsExtras

// The four forking cases of the public suite https://github.com/tzcnt/runtime-benchmarks, which compares runtimes for
// C++ and has none for Swift. The sizes are smaller, so that a round takes less than a second. A figure is the time
// for each part that is split off, on all processors.

extension Case {
    static let fibonacci = forking(
        "fib", "the call for a smaller number, for fib(21) by recursion", parts: 35_420, Fibonacci.self)

    static let skynet = forking(
        "skynet", "one of ten parts of a range, down to 100,000 single numbers, which are added", parts: 111_110,
        Skynet.self)

    static let queens = forking(
        "nqueens", "a row with one more queen, until all solutions for 10 queens are counted", parts: 35_538,
        Queens.self)

    static let product = forking(
        "matmul", "a product of submatrices, down to 32 rows, of matrices of 1024 rows", parts: 37_448, Product.self)

    /// - Parameter parts: The exact number of parts of a problem.
    private static func forking<Problem: Divisible>(
        _ name: String, _ summary: String, parts: Int, _: Problem.Type
    ) -> Case {
        func subject(_ subject: SubjectName, _ solve: @escaping @Sendable (Problem) async throws -> Int) -> Subject {
            Subject(subject) { count in
                let n = Problem.largest(parts: count)
                let problem = Problem(n)
                var sum = 0
                let measurement = try await measure(problem.partCount, on: problem) { sum = try await solve($0) }
                try problem.check(problem.result(sum), n)
                return measurement
            }
        }
        func subject(_ library: CPlusPlusLibrary) -> Subject {
            Subject(library.name) { count in
                let n = Problem.largest(parts: count)
                let problem = Problem(n)
                let (elapsed, result) = try await library.run(name, n)
                try problem.check(result, n)
                return Measurement(elapsed, operations: problem.partCount)
            }
        }
        return Case(
            name, summary, sizes: [parts], isLong: true,
            subjects: [
                subject(.taskOperationQueue) { problem in
                    let queue = TaskOperationQueue()
                    return try await queue.addOperation { try await Forking.queue(problem, queue) }.value
                },
                subject(.scopedQueue, Forking.scope),
                subject(.concurrentPerform, Forking.perform),
                subject(.taskGroup, Forking.taskGroup),
                subject(.dispatchQueue) { problem in await mainThread.run { Forking.dispatch(problem) } },
                subject(.taskflow),
                subject(.tbb),
            ])
    }
}

/// The ways to solve a problem. Each forks all parts of a round except the first, which the forking task solves itself
/// if the interface permits that.
enum Forking {
    /// One queue, whose bodies add operations to it and await them. They lend their permits while they wait.
    static func queue<Problem: Divisible>(_ problem: Problem, _ queue: TaskOperationQueue) async throws -> Int {
        let width = problem.width
        if width == 0 { return problem.solve() }
        var sum = 0
        for round in 0..<Problem.rounds {
            let others = (1..<width).map { part in
                queue.addOperation { try await Self.queue(problem.part(part, round), queue) }
            }
            sum += try await Self.queue(problem.part(0, round), queue)
            for other in others { sum += try await other.value }
        }
        return sum
    }

    /// A scope for each fork: the direct translation of a task group.
    @Sendable
    static func scope<Problem: Divisible>(_ problem: Problem) async throws -> Int {
        let width = problem.width
        if width == 0 { return problem.solve() }
        var sum = 0
        for round in 0..<Problem.rounds {
            sum += try await withTaskOperationQueue { queue in
                let others = (1..<width).map { part in
                    queue.addOperation { try await scope(problem.part(part, round)) }
                }
                var sum = try await scope(problem.part(0, round))
                for other in others { sum += try await other.value }
                return sum
            }
        }
        return sum
    }

    @Sendable
    static func perform<Problem: Divisible>(_ problem: Problem) async -> Int {
        let width = problem.width
        if width == 0 { return problem.solve() }
        let sum = Atomic(0)
        for round in 0..<Problem.rounds {
            await concurrentPerform(over: 0..<width) { part in
                sum.add(await perform(problem.part(part, round)), ordering: .relaxed)
            }
        }
        return sum.load(ordering: .relaxed)
    }

    @Sendable
    static func taskGroup<Problem: Divisible>(_ problem: Problem) async -> Int {
        let width = problem.width
        if width == 0 { return problem.solve() }
        var sum = 0
        for round in 0..<Problem.rounds {
            sum += await withTaskGroup(of: Int.self) { group in
                for part in 1..<width { group.addTask { await taskGroup(problem.part(part, round)) } }
                let first = await taskGroup(problem.part(0, round))
                return await group.reduce(first, +)
            }
        }
        return sum
    }

    /// A block that waits for a group of blocks would block one of 64 threads. The caller of `concurrentPerform` takes
    /// part in the work.
    static func dispatch<Problem: Divisible>(_ problem: Problem) -> Int {
        let width = problem.width
        if width == 0 { return problem.solve() }
        let sum = Atomic(0)
        for round in 0..<Problem.rounds {
            DispatchQueue.concurrentPerform(iterations: width) { part in
                sum.add(dispatch(problem.part(part, round)), ordering: .relaxed)
            }
        }
        return sum.load(ordering: .relaxed)
    }
}
