import TaskOperations
import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: forking", .inTurns)
struct ForkingTests {
    @Test("Every way to fork solves small problems", arguments: 1...7)
    func results(n: Int) async throws {
        try await Self.check(Fibonacci.self, n)
        try await Self.check(Queens.self, n)
        try await Self.check(Product.self, n)
        if n < 4 { try await Self.check(Skynet.self, n) }
    }

    @Test("A wrong result is an error")
    func wrongResult() throws {
        try Fibonacci(10).check(55, 10)
        #expect(throws: WrongResult.self) { try Fibonacci(10).check(54, 10) }
    }

    @Test("The size of each case is the number of parts of its problem")
    func sizes() {
        #expect(Case.fibonacci.sizes == [Fibonacci(21).partCount])
        #expect(Case.skynet.sizes == [Skynet(5).partCount])
        #expect(Case.queens.sizes == [Queens(10).partCount])
        #expect(Case.product.sizes == [Product(10).partCount])
    }

    @Test("The largest problem of a number of parts has no more of them, unless it is the smallest that has parts")
    func largest() {
        #expect(Fibonacci.largest(parts: 35_420) == 21)
        #expect(Fibonacci.largest(parts: 35_419) == 20)
        #expect(Queens.largest(parts: 16) == 4)
        #expect(Product.largest(parts: 71) == 6)
        #expect(Product.largest(parts: 72) == 7)
        #expect(Product.largest(parts: 1) == 6)
    }

    private static func check<Problem: Divisible>(_: Problem.Type, _ n: Int) async throws {
        let expected = Problem.expected(n)
        let queue = TaskOperationQueue()
        let problems = (0..<5).map { _ in Problem(n) }
        #expect(try await problems[0].result(Forking.queue(problems[0], queue)) == expected, "queue")
        #expect(try await problems[1].result(Forking.scope(problems[1])) == expected, "scope")
        #expect(await problems[2].result(Forking.perform(problems[2])) == expected, "concurrentPerform")
        #expect(await problems[3].result(Forking.taskGroup(problems[3])) == expected, "task group")
        #expect(problems[4].result(Forking.dispatch(problems[4])) == expected, "Dispatch")
    }
}
