import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Bounds of the queued operations of a limit", .inTurns, .endsInTime)
struct LimitRoomTests {
    /// A limit without a free permit, and a queue.
    private let workers = AsyncSemaphore(capacity: 0, name: "workers")
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: .max)

    private func add(_ key: String) -> TaskOperation<Void> { queue.addOperation(.limit(workers, key: key)) {} }

    /// Whether an operation was refused for lack of room.
    private func isRefused(_ operation: AnyTaskOperation) -> Bool {
        guard case .limitFull? = (operation as? TaskOperation<Void>)?.outcome?.failure as? TaskOperationError else {
            return false
        }
        return true
    }

    @Test("An operation of a key without room fails when it is added, and the other keys have room")
    func perKey() async throws {
        workers.maxQueuedOperationCountPerKey = 2
        let operations = ["a", "a", "a", "b", "b", "b"].map(add)
        #expect(operations.map(isRefused) == [false, false, true, false, false, true])
        let error = await #expect(throws: TaskOperationError.self) { try await operations[2].value }
        #expect(error?.description.contains("semaphore \"workers\" had no room for another operation of key a") == true)
        workers.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(!isRefused(add("a")))
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The total counts operations of all keys and of all queues, and operations without a key")
    func inTotal() async throws {
        workers.maxQueuedOperationCount = 3
        let other = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let accepted = [add("a"), add("b"), other.addOperation(.limit(workers)) {}]
        let refused = [add("c"), other.addOperation(.limit(workers, weight: 1)) {}]
        #expect(!accepted.contains(where: isRefused) && refused.allSatisfy(isRefused))
        accepted[0].cancel()
        #expect(!isRefused(add("c")), "a cancelled operation gives its place back")
        workers.capacity = 3
        try await queue.waitUntilAllOperationsAreFinished()
        try await other.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation gives its place back when its body begins")
    func started() async throws {
        workers.capacity = 1
        workers.maxQueuedOperationCountPerKey = 1
        let (executing, gate) = (Gate(), Gate())
        queue.addOperation(.limit(workers, key: "a")) {
            executing.open()
            await gate.pass()
        }
        await executing.pass()
        let second = add("a")
        #expect(!isRefused(second))
        #expect(isRefused(add("a")))
        gate.open()
        try await second.value
    }

    @Test("A place in each limit or in none")
    func severalLimits() async throws {
        let memory = AsyncSemaphore(capacity: 0)
        (workers.maxQueuedOperationCount, memory.maxQueuedOperationCount) = (2, 1)
        func addWithBoth() -> TaskOperation<Void> {
            queue.addOperation([.limit(memory), .limit(workers)]) {}
        }
        #expect(!isRefused(addWithBoth()))
        // The second one finds no room in `memory`, and must leave the place in `workers`.
        #expect(isRefused(addWithBoth()))
        #expect(!isRefused(add("a")))
        #expect(isRefused(add("a")))
        (workers.capacity, memory.capacity) = (1, 1)
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The error names the key only if the bound of the key was reached, and a call that waits for room throws it")
    func reachedBound() async throws {
        func keyOfError(_ error: (any Error)?) -> String? {
            guard case .limitFull(_, _, let key)? = error as? TaskOperationError else { return "no error" }
            return key
        }
        let hosts = AsyncSemaphore(capacity: 0)
        (hosts.maxQueuedOperationCount, hosts.maxQueuedOperationCountPerKey) = (2, 1)
        queue.addOperation(.limit(hosts, key: "a")) {}
        #expect(keyOfError(queue.addOperation(.limit(hosts, key: "a")) {}.failure) == "a")
        queue.addOperation(.limit(hosts, key: "b")) {}
        #expect(keyOfError(queue.addOperation(.limit(hosts, key: "c")) {}.failure) == nil)
        let error = await #expect(throws: TaskOperationError.self) {
            try await queue.addOperationWaitingForRoom(.limit(hosts, key: "c")) {}
        }
        #expect(keyOfError(error) == nil)
        // The body may fail with the error of another operation, which may have had the same address. The call does not
        // throw that error.
        for _ in 0..<1000 {
            let foreign = try await queue.addOperationWaitingForRoom { throw error! }
            await #expect(throws: TaskOperationError.self) { try await foreign.value }
        }
        hosts.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The limit accepts one operation for each free permit beyond its bounds")
    func freePermits() async throws {
        let hosts = AsyncSemaphore(capacity: 3, perKey: 2)
        queue.isSuspended = true
        hosts.maxQueuedOperationCountPerKey = 0
        func add(_ keys: String...) -> [Bool] {
            keys.map { isRefused(queue.addOperation(.limit(hosts, key: $0)) {}) }
        }
        #expect(add("a", "a", "a", "b") == [false, false, true, false])
        hosts.maxQueuedOperationCount = 0
        #expect(add("b", "c") == [true, true], "three operations are queued, and three permits are free")
        hosts.maxQueuedOperationCount = 1
        #expect(add("b", "c") == [false, true])
        hosts.setCapacity(0, for: "d")
        hosts.maxQueuedOperationCount = nil
        #expect(add("d") == [true])
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(try await hosts.withPermit(key: "a") { add("a", "b") } == [false, false])
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation that its queue withdraws, rejects or drops gives its place back")
    func leftQueue() async throws {
        workers.maxQueuedOperationCountPerKey = 1
        let full = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, isSuspended: true))
        full.addOperation {}
        let rejected = full.addOperation(.limit(workers, key: "a")) {}
        #expect(rejected.isFinished && !isRefused(rejected))

        let dropping = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let dropped = dropping.addOperation(.limit(workers, key: "a")) {}
        dropping.addOperation {}
        #expect(dropped.isFinished && !isRefused(dropped))

        // The second operation of the step was added before, so that the first one is withdrawn.
        let withdrawn = TaskOperation(.limit(workers, key: "a")) {}
        let added = TaskOperation {}
        try queue.addOperation(added)
        #expect(throws: TaskOperationError.self) { try queue.addOperations([withdrawn, added]) }
        #expect(!withdrawn.isFinished)
        try queue.addOperation(withdrawn)
        #expect(!isRefused(withdrawn))
        #expect(isRefused(add("a")))
        workers.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
        for other in [full, dropping] { other.cancelAllOperations() }
        #expect(!isRefused(add("a")), "the withdrawn operation has a place for its second addition only")
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Attempts after the first need no place, and give none back")
    func attempts() async throws {
        workers.capacity = 1
        workers.maxQueuedOperationCount = 1
        let attempts = Recorder<Int>()
        let retried = queue.addOperation([.limit(workers), .retry(.immediately(attempts: 3))]) {
            attempts.record(attempts.events.count)
            if attempts.events.count < 3 { throw AttemptFailure() }
        }
        try await retried.value
        #expect(attempts.events == [0, 1, 2])
        workers.capacity = 0
        #expect(!isRefused(add("a")))
        #expect(isRefused(add("a")), "three attempts give one place back")
        workers.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The bounds can be changed; a lowered one ends nothing, and nil is no bound")
    func changed() async throws {
        #expect(workers.maxQueuedOperationCount == nil && workers.maxQueuedOperationCountPerKey == nil)
        workers.maxQueuedOperationCountPerKey = 2
        let first = [add("a"), add("a")]
        workers.maxQueuedOperationCountPerKey = 0
        #expect(workers.maxQueuedOperationCountPerKey == 0)
        #expect(!first.contains(where: isRefused) && isRefused(add("a")) && isRefused(add("b")))
        #expect(!isRefused(queue.addOperation(.limit(workers)) {}), "without a key, only the total counts")
        workers.maxQueuedOperationCountPerKey = nil
        #expect(!isRefused(add("a")))
        workers.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Concurrent additions, cancellations and starts keep the bound, and give all places back", .schedules(20))
    func underLoad() async throws {
        workers.capacity = 2
        workers.maxQueuedOperationCountPerKey = 3
        let refusals = Recorder<Int>()
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<20 {
                        let operation = add("\(number % 2)")
                        if number % 5 == thread { operation.cancel() }
                        if isRefused(operation) { refusals.record(number) }
                        await Task.yield()
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        workers.capacity = 0
        for key in ["0", "1"] {
            #expect((0..<4).map { _ in isRefused(add(key)) } == [false, false, false, true])
        }
        workers.capacity = 1
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

private struct AttemptFailure: Error {}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
