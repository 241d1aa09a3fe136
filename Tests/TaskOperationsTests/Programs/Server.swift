import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Answers requests, two at a time. Up to three requests wait, for at most 100 ms. A request takes at most 1 s in
/// total. The server answers all other requests at once, so it responds quickly under load.
private struct PageServer: Sendable {
    enum Answer: Equatable, Sendable {
        case page(String), busy, late, failed
    }

    let clock: any Clock<Duration>
    let handle: @Sendable (_ path: String) async throws -> String
    let queue: TaskOperationQueue

    init(clock: any Clock<Duration>, handle: @escaping @Sendable (_ path: String) async throws -> String) {
        self.clock = clock
        self.handle = handle
        queue = TaskOperationQueue(
            .init(
                name: "requests", maxConcurrentOperationCount: 2, maxQueuedOperationCount: 3, overflow: .reject,
                defaults: [.timeout(untilStart: .milliseconds(100)), .timeout(untilEnd: .seconds(1)), .clock(clock)]))
    }

    func answer(_ path: String, isUrgent: Bool = false) async -> Answer {
        do {
            let page = try await queue.run(isUrgent ? .priority(.high) : []) { try await handle(path) }
            return .page(page)
        } catch TaskOperationError.queueFull {
            return .busy
        } catch TaskOperationError.startTimedOut, TaskOperationError.timedOut {
            return .late
        } catch {
            return .failed
        }
    }
}

@Suite("Program: a server that sheds load", .endsInTime)
struct ServerTests {
    @Test("answers in time or refuses at once")
    func answers() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let server = PageServer(clock: clock) { path in
            if path == "broken" { throw WorkFailed() }
            if path != "quick" { await gate.pass() }
            return path
        }
        #expect(await server.answer("quick") == .page("quick"))
        #expect(await server.answer("broken") == .failed)
        let slow = (0..<2).map { number in Task { await server.answer("slow \(number)") } }
        await gate.waitForArrivals(2)
        let waiting = (0..<3).map { number in Task { await server.answer("waiting \(number)") } }
        await until { server.queue.operationCount == 5 }
        #expect(await server.answer("one too many") == .busy)
        clock.advance(by: .milliseconds(100))
        for request in waiting { #expect(await request.value == .late) }
        gate.open()
        for (number, request) in slow.enumerated() { #expect(await request.value == .page("slow \(number)")) }
        #expect(await server.answer("quick", isUrgent: true) == .page("quick"))
    }
}
