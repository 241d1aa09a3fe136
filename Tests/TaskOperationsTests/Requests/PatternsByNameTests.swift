import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Statements of the article "Patterns by their common names".
@Suite("Patterns by their common names", .endsInTime)
struct PatternsByNameTests {
    private struct Refused: Error {}

    @Test(
        "Requests that are refused with the same token share one refresh, also in bodies of a queue of width 1",
        .schedules(300))
    func tokenRefresh() async throws {
        let (refreshed, valid) = (Recorder<String>(), "new")
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let refreshes = KeyedOperations<String, String>(queue: queue, keeping: .values(maxCount: 4))
        @Sendable func fetch(token: String) async throws -> String {
            await Task.yield()
            if token != valid { throw Refused() }
            return "page"
        }
        @Sendable func page(token: String) async throws -> String {
            do {
                return try await fetch(token: token)
            } catch is Refused {
                let new = try await refreshes.value(for: token) {
                    refreshed.record(token)
                    await Task.yield()
                    return valid
                }
                return try await fetch(token: new)
            }
        }
        let bodies = (1...2).map { _ in queue.addOperation { try await page(token: "old") } }
        async let other = page(token: "old")
        #expect(try await other == "page")
        for body in bodies { #expect(try await body.value == "page") }
        // A request that is refused after the refresh.
        #expect(try await page(token: "old") == "page")
        #expect(refreshed.events == ["old"])
    }

    @Test("After a refresh that failed, the next request refreshes again")
    func failedRefresh() async throws {
        let attempts = Recorder<Int>()
        let refreshes = KeyedOperations<String, String>(
            queue: TaskOperationQueue(), keeping: .values(maxCount: 4))
        for attempt in 1...2 {
            _ = try? await refreshes.value(for: "old") {
                attempts.record(attempt)
                throw Refused()
            }
        }
        #expect(attempts.events == [1, 2])
    }
}
