import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Functions around bodies", .inTurns, .timeLimit(.minutes(120)))
struct SurroundingTests {
    @TaskLocal private static var span = "none"

    @Test("bodies have the task locals of the functions around them, inner ones within outer ones", .schedules(5))
    func contexts() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let order = Recorder<String>()
        for name in ["inner", "outer"] {
            queue.addBodyInterceptor { operation, body in
                order.record("\(name) begins \(operation.name!)")
                try await Self.$span.withValue("\(name) of \(operation.name!)") { try await body() }
                order.record("\(name) ends")
            }
        }
        let value = try await queue.addOperation(name: "work") { Self.span }.value
        #expect(value == "inner of work")
        #expect(order.events == ["outer begins work", "inner begins work", "inner ends", "outer ends"])
    }

    @Test("a function around bodies remains the same after any number of bodies")
    func manyBodies() async throws {
        let (queue, calls) = (TaskOperationQueue(), Recorder<Void>())
        queue.addBodyInterceptor { _, body in
            calls.record(())
            try await body()
        }
        // With one more wrapper for each access, the call would overflow the stack.
        for _ in 0..<300_000 { _ = queue.scheduler.interceptors.current }
        try await queue.addOperation {}.value
        #expect(calls.events.count == 1)
    }

    @Test("the outcome is that of the body, for any error of the function around it", .schedules(5))
    func outcomes() async throws {
        let queue = TaskOperationQueue()
        let errors = Recorder<String>()
        queue.addBodyInterceptor { _, body in
            do { try await body() } catch { errors.record("\(error)") }
        }
        #expect(try await queue.addOperation { 1 }.value == 1)
        await #expect(throws: WorkFailed.self) { try await queue.addOperation { throw WorkFailed() }.value }
        #expect(errors.events == ["\(WorkFailed())"])
        let inner = queue.addOperation { AnyTaskOperation.current?.name }
        #expect(try await inner.value == nil)
        let current = queue.addOperation(name: "this") { AnyTaskOperation.current?.name }
        #expect(try await current.value == "this")
    }

    @Test("a body that is not called is released, and its operation fails", .schedules(5))
    func refusals() async throws {
        let (refusing, forgetting) = (TaskOperationQueue(), TaskOperationQueue())
        refusing.addBodyInterceptor { _, _ in throw WorkFailed() }
        forgetting.addBodyInterceptor { _, _ in }
        weak var captured: AnyObject?
        do {
            let object = Witness(Gate())
            captured = object
            let refused = refusing.addOperation { [object] in
                Issue.record("it ran")
                withExtendedLifetime(object) {}
            }
            await #expect(throws: WorkFailed.self) { try await refused.value }
        }
        #expect(captured == nil)
        let forgotten = forgetting.addOperation { 1 }
        await #expect(throws: TaskOperationError.self) { try await forgotten.value }
    }

    @Test("the permit is lent and given back within it", .schedules(10))
    func lending() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        queue.addBodyInterceptor { _, body in
            await Task.yield()
            try await body()
            await Task.yield()
        }
        let outer = queue.addOperation { try await queue.addOperation { 2 }.value }
        #expect(try await outer.value == 2)
    }
}
