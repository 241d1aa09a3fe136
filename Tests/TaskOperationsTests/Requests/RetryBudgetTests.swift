import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The retry budget", .endsInTime)
struct RetryBudgetTests {
    @Test("A success adds a part of a token, and the number has a maximum")
    func tokens() {
        let budget = RetryBudget(ratio: 0.1, maxTokens: 2)
        #expect(budget.tokenCount == 2)
        #expect(budget.takeToken() && budget.takeToken() && !budget.takeToken())
        for _ in 0..<9 { budget.addSuccess() }
        #expect(!budget.takeToken())
        budget.addSuccess()
        #expect(budget.takeToken() && !budget.takeToken())
        for _ in 0..<1000 { budget.addSuccess() }
        #expect(budget.tokenCount == 2)
    }

    @Test("The limits of the ratio and the maximum")
    func limits() {
        let none = RetryBudget(ratio: 0, maxTokens: 1)
        #expect(none.takeToken())
        none.addSuccess()
        #expect(!none.takeToken())
        let all = RetryBudget(ratio: 1, maxTokens: .max)
        for _ in 0..<3 { all.addSuccess() }
        #expect(all.takeToken())
        #expect(all.tokenCount > 1_000_000_000)
    }

    @Test("A failing system receives few retries, from several queues together", .schedules(10))
    func retries() async throws {
        let (budget, calls) = (RetryBudget(ratio: 0.1, maxTokens: 5), Recorder<Bool>())
        let queues = (0..<2).map { _ in TaskOperationQueue() }
        for queue in queues { budget.countBodies(of: queue) }
        let options = OperationOptions.retry(.immediately(attempts: 3).limited(by: budget))
        for number in 0..<50 {
            let operation = queues[number % 2].addOperation(options) {
                calls.record(false)
                throw WorkFailed()
            }
            _ = await operation.result
        }
        #expect(calls.events.count == 55)
        // After 20 successes, two retries are allowed.
        for number in 0..<20 { _ = try await queues[number % 2].addOperation(options) { number }.value }
        for _ in 0..<10 {
            _ = await queues[0].addOperation(options) {
                calls.record(false)
                throw WorkFailed()
            }.result
        }
        #expect(calls.events.count == 67)
    }

    @Test("An attempt that the policy does not make takes no token", .schedules(10))
    func noAttempt() async throws {
        let budget = RetryBudget(ratio: 0, maxTokens: 10)
        let reports = Recorder<Int>()
        let policy = RetryPolicy.immediately(attempts: 3).reporting { _, attempt, _ in reports.record(attempt) }
            .limited(by: budget)
        let operation = TaskOperationQueue().addOperation(.retry(policy)) { throw WorkFailed() }
        _ = await operation.result
        #expect(budget.tokenCount == 8)
        #expect(reports.events == [1, 2, 3])
    }

    @Test("A token is taken once if many tasks take tokens at once")
    func threads() async {
        let budget = RetryBudget(ratio: 0, maxTokens: 100)
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { (0..<100).reduce(0) { count, _ in count + (budget.takeToken() ? 1 : 0) } }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 100)
    }
}
