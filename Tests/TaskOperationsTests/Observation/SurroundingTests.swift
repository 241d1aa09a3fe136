import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Functions around bodies", .inTurns, .endsInTime)
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
        for _ in 0..<300_000 { _ = queue.scheduler.interceptor.value }
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

    // An interceptor that awaits an actor leaves its own executor. `body()` is then the first call after that.

    @Test("a body of the main queue runs on the main actor after its interceptors have awaited another actor")
    func placeOnMainActor() async throws {
        let scheduler = Scheduler(
            .init(maxConcurrentOperationCount: 1), place: .mainActor, permit: PermitNode(lending: .whenNeeded))
        let other = OtherActor()
        for _ in 0..<2 {
            scheduler.addInterceptor { _, body in
                await other.enter()
                try await body()
            }
            let operation = TaskOperation { MainThread.isCurrent }
            try scheduler.submit(operation)
            #expect(try await operation.value)
        }
    }

    @Test("a body leaves the actor that its interceptor has awaited")
    func placeInPool() async throws {
        let queue = TaskOperationQueue()
        let other = OtherActor()
        queue.addBodyInterceptor { _, body in
            await other.enter()
            try await body()
        }
        #expect(try await queue.addOperation { !other.isEntered }.value)
        #expect(try await queue.addOperation { !other.isEntered }.value)
    }

    @Test("a task beside the body is no part of the body, and lends no permit", .schedules(20))
    func besideTheBody() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let order = Recorder<String>()
        let (begun, seen) = (Gate(), Recorder<AnyTaskOperation?>())
        queue.addBodyInterceptor { operation, body in
            if operation.name != "first" { return try await body() }
            // Cancelled when the body has ended.
            async let _: Void = {
                await begun.pass()
                seen.record(AnyTaskOperation.current)
                try? await queue.addOperation(name: "second") { order.record("second") }.value
            }()
            try await body()
        }
        let first = queue.addOperation(name: "first") {
            begun.open()
            await untilOthersWait()
            order.record("first")
        }
        try await first.value
        #expect(order.events.first == "first")
        #expect(seen.events == [nil])
    }

    @Test("a body is the current operation in the child task in which its interceptor calls it", .schedules(20))
    func inChildTask() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        queue.addBodyInterceptor { _, body in try await withTimeout(.seconds(60)) { try await body() } }
        let outer = queue.addOperation {
            let inner = queue.addOperation { AnyTaskOperation.current }
            return (AnyTaskOperation.current, try await inner.value, inner)
        }
        let (own, ofInner, inner) = try await outer.value
        #expect(own === outer)
        #expect(ofInner === inner)
    }
}

/// An actor on a thread of its own.
private actor OtherActor {
    private nonisolated let executor = ThreadExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Whether the caller runs on the thread of the actor.
    nonisolated var isEntered: Bool { executor.isIsolatingCurrentContext() == true }

    func enter() {}
}
