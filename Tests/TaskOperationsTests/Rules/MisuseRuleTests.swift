import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 14: misuse is a thrown, typed error", .inTurns, .endsInTime)
struct MisuseRuleTests {
    @Test("A weight or limits that are set after adding are refused, and nothing changes")
    func permitsSetTooLate() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let (operation, other) = (TaskOperation(name: "late") {}, TaskOperation {})
        let limit = AsyncSemaphore(capacity: 1)
        try operation.addOptions(.weight(2))
        try operation.addOptions(.limit(limit))
        try queue.addOperation(operation)
        #expect(refusal { try operation.addOptions(.weight(1)) }?.alreadyAdded == "late")
        #expect(refusal { try operation.addOptions([]) }?.alreadyAdded == "late")
        #expect(operation.weight == 2 && operation.limits.count == 1)
        queue.isSuspended = false
        try await operation.value
        #expect(refusal { try operation.addOptions(.weight(1)) }?.alreadyAdded == "late")
        #expect(operation.weight == 2)
        try queue.addOperation(other)
        try await other.value
    }

    @Test("Adding an operation twice is refused, to the same queue, to another, and after its end")
    func addingTwice() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let other = TaskOperationQueue()
        let runs = Recorder<String>()
        let operation = queue.addOperation(name: "once") { runs.record("ran") }
        for target in [queue, other] {
            let error = refusal { try target.addOperation(operation) }
            #expect(error?.alreadyAdded == "once")
            let asBarrier = refusal { try target.addBarrier(operation) }
            #expect(asBarrier?.alreadyAdded == "once")
        }
        #expect(refusal { try operation.start() }?.alreadyAdded == "once")
        #expect((queue.operationCount, other.operationCount) == (1, 0))
        queue.isSuspended = false
        try await operation.value
        #expect(refusal { try other.addOperation(operation) }?.alreadyAdded == "once")
        #expect(runs.events == ["ran"])
    }

    @Test("Of many threads that add the same operation at once, one succeeds")
    func addingAtOnce() async throws {
        let queues = (0..<4).map { _ in TaskOperationQueue() }
        for _ in 0..<100 {
            let runs = Recorder<Bool>()
            let operation = TaskOperation { runs.record(true) }
            let added = await withTaskGroup(of: Bool.self) { group in
                for queue in queues { group.addTask { (try? queue.addOperation(operation)) != nil } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(added.count { $0 } == 1)
            try await operation.value
            #expect(runs.events == [true])
        }
    }

    @Test("A dependency added to, or removed from, one that has started or ended is refused")
    func lateDependency() async throws {
        let gate = Gate()
        let dependency = TaskOperation(name: "dependency") {}
        try dependency.start()
        try await dependency.value
        let operation = TaskOperation(name: "late", dependencies: [dependency]) { await gate.pass() }
        try TaskOperationQueue().addOperation(operation)
        let another = TaskOperation {}
        await gate.waitForArrivals(1)
        #expect(refusal { try operation.addDependency(another) }?.alreadyStarted == "late")
        #expect(refusal { try operation.removeDependency(dependency) }?.alreadyStarted == "late")
        #expect(operation.dependencies == [dependency])
        gate.open()
        try await operation.value
        #expect(refusal { try operation.addDependency(another) }?.alreadyStarted == "late")
        #expect(refusal { try operation.removeDependency(another) }?.alreadyStarted == "late")
        #expect(operation.dependencies == [])
    }

    @Test("The refusal says that it has ended, also where the new dependency waits for it")
    func lateDependencyOnADependent() async throws {
        let operation = TaskOperation(name: "late") {}
        let dependent = TaskOperation(dependencies: [operation]) {}
        try operation.start()
        try await operation.value
        let error = refusal { try operation.addDependency(dependent) }
        #expect(error?.alreadyStarted == "late")
        #expect(error?.dependencyCycle == nil)
    }

    @Test("Starting one by hand that is not ready is refused, and it can be started later")
    func startingTooEarly() async throws {
        let (first, second) = (TaskOperation(name: "first") {}, TaskOperation(name: "second") {})
        let operation = TaskOperation(name: "third", dependencies: [first, second]) { 3 }
        try first.start()
        try await first.value
        #expect(refusal { try operation.start() }?.notReadyFor == ["second"])
        #expect(operation.state == .waiting)
        try second.start()
        try await second.value
        try operation.start()
        #expect(refusal { try operation.start() }?.alreadyAdded == "third")
        #expect(try await operation.value == 3)
    }

    @Test("Each message names the operation and the remedy")
    func messages() async throws {
        let first = TaskOperation(name: "first") {}
        let second = TaskOperation(name: "second", dependencies: [first]) {}
        let third = TaskOperation(dependencies: [second]) {}
        #expect(
            refusal { try first.addDependency(second) }?.description == """
                The dependency would close a cycle: "first" waits for "second" waits for "first". None of these \
                operations could start. Remove one of the dependencies on the cycle.
                """)
        #expect(
            refusal { try third.start() }?.description.hasSuffix(
                """
                is not ready: it waits for "second". Await these operations first, or add it to a queue, which starts it \
                when it is ready.
                """) == true)
        #expect(refusal { try third.start() }?.description.hasPrefix("unnamed operation 0x") == true)
        try first.start()
        #expect(
            refusal { try first.start() }?.description == """
                "first" was already added to a queue or started. An operation runs once: create a new one, and set its \
                weight and limits before you add it.
                """)
        try await first.value
        #expect(
            refusal { try first.addDependency(TaskOperation {}) }?.description
                == "\"first\" has already started or finished. Change its dependencies before it starts.")
    }
}
