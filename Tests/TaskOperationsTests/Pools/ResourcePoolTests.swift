import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("A pool lends resources", .endsInTime)
struct ResourcePoolTests {
    private static func limit(_ capacity: Int = 1) -> AsyncSemaphore { AsyncSemaphore(capacity: capacity, name: "db") }

    @Test("A resource is created when it is first needed, and used again")
    func reuse() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(2))
        #expect(server.counts.created == 0)
        for _ in 0..<3 { #expect(try await pool.use() == 1) }
        #expect(server.counts.created == 1)
        #expect(pool.idleCount == 1)
    }

    @Test("No more resources are used and created than the limit has permits", .schedules(100))
    func capacity() async throws {
        let (server, limit) = (PoolServer(), Self.limit(2))
        let pool = ResourcePool(server, limit)
        let calls = (0..<5).map { _ in Task { try await pool.use { await Task.yield() } } }
        for call in calls { _ = try await call.value }
        #expect(server.counts.created <= 2)
        #expect(server.counts.peakUse <= 2)
        #expect(limit.available == 2)
    }

    @Test(
        "A call receives the resource that was used last, or the one that was not used for the longest time",
        .schedules(20), arguments: [false, true])
    func order(leastRecentlyUsedFirst: Bool) async throws {
        let pool = ResourcePool(PoolServer(), Self.limit(3), leastRecentlyUsedFirst: leastRecentlyUsedFirst)
        let gates = (0..<3).map { _ in Gate() }
        var calls: [Task<Int, any Error>] = []
        for gate in gates {
            calls.append(Task { try await pool.use { await gate.pass() } })
            await gate.waitForArrivals(1)
        }
        for (call, gate) in zip(calls, gates) {
            gate.open()
            _ = try await call.value
        }
        var used: [Int] = []
        for _ in 0..<3 { used.append(try await pool.use()) }
        #expect(used == (leastRecentlyUsedFirst ? [1, 2, 3] : [3, 3, 3]))
    }

    @Test("An idle resource that is not valid is closed, and the next one is tried", .schedules(20))
    func validation() async throws {
        let (server, invalid) = (PoolServer(), Recorder<Int>())
        let pool = ResourcePool(
            server, Self.limit(2), leastRecentlyUsedFirst: true,
            validate: { connection in
                invalid.record(connection.number)
                if connection.number == 1 { throw WorkFailed() }
                return connection.number != 2
            })
        let gate = Gate()
        let calls = (0..<2).map { _ in Task { try await pool.use { await gate.pass() } } }
        await gate.waitForArrivals(2)
        #expect(invalid.events == [], "New resources are not validated.")
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(try await pool.use() == 3)
        #expect(Set(invalid.events) == [1, 2])
        #expect(try await pool.use() == 3)
        try await pool.close()
        #expect(server.counts.closed == 3)
    }

    @Test(
        "A resource is replaced after an error if the closure says so, and by default after any error", .schedules(20))
    func failure() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(), isFailure: { $0 as? WorkFailed == WorkFailed(number: 1) })
        for (number, next) in [(0, 1), (1, 2), (0, 2), (1, 3)] {
            await #expect(throws: WorkFailed(number: number)) {
                try await pool.use { throw WorkFailed(number: number) }
            }
            #expect(try await pool.use() == next)
        }
        let strict = ResourcePool(server, Self.limit())
        let first = try await strict.use()
        await #expect(throws: WorkFailed()) { try await strict.use { throw WorkFailed() } }
        #expect(try await strict.use() == first + 1)
    }

    @Test("The permit is free after an error of the creation", .schedules(20))
    func creationFails() async throws {
        let (limit, attempts) = (Self.limit(), Recorder<Void>())
        let pool = ResourcePool<Int>(limit: limit) {
            attempts.record(())
            if attempts.events.count < 3 { throw WorkFailed() }
            return 7
        }
        for _ in 0..<2 {
            await #expect(throws: WorkFailed()) { try await pool.withResource { _ in } }
            #expect(limit.available == 1)
        }
        #expect(try await pool.withResource { $0 } == 7)
    }

    @Test("An idle resource is closed after its time, which begins again with each use", .virtualTime)
    func idleTime() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(), idleTime: .seconds(60))
        for _ in 0..<3 {
            #expect(try await pool.use() == 1)
            try await Task.sleep(for: .seconds(59))
        }
        #expect(pool.idleCount == 1)
        try await Task.sleep(for: .seconds(2))
        #expect(pool.idleCount == 0)
        #expect(server.counts == .init(created: 1, closed: 1, peakUse: 1))
        #expect(try await pool.use { try await Task.sleep(for: .seconds(100)) } == 2)
        #expect(pool.idleCount == 1, "A resource in use is not idle.")
    }

    @Test("A resource in use has no timer")
    func timers() async throws {
        let (server, clock) = (PoolServer(), AdjustableClock())
        let pool = ResourcePool<PooledConnection>(limit: Self.limit(), idleTime: .seconds(60), clock: clock) {
            server.connect()
        }
        try await pool.use()
        await until { clock.sleeperCount == 1 }
        try await pool.use { await until { clock.sleeperCount == 0 } }
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(60))
        await until { pool.idleCount == 0 }
    }

    @Test("With resources used last first, the ones that are not needed reach their idle time", .virtualTime)
    func surplus() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(3), idleTime: .seconds(10))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await pool.use { try await Task.sleep(for: .seconds(1)) } } }
            try await group.waitForAll()
        }
        #expect(pool.idleCount == 3)
        for _ in 0..<4 {
            try await pool.use()
            try await Task.sleep(for: .seconds(4))
        }
        #expect(pool.idleCount == 1)
        #expect(server.counts.closed == 2)
    }

    @Test("A pool without idle time keeps no resource", .schedules(20))
    func noIdleTime() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(), idleTime: .zero)
        #expect(try await pool.use() == 1)
        #expect(try await pool.use() == 2)
        #expect(pool.idleCount == 0)
        try await pool.close()
        #expect(server.counts.open == 0)
    }

    @Test("The capacity of a key applies", .schedules(100))
    func keys() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, AsyncSemaphore(capacity: 3, perKey: 1))
        let meter = ConcurrencyMeter()
        let calls = (0..<3).map { _ in
            Task {
                try await pool.withResource(key: "a") { connection in
                    await connection.use { await meter.measure { await Task.yield() } }
                }
            }
        }
        try await pool.withResource(key: "b") { _ in }
        for call in calls { try await call.value }
        #expect(meter.most == 1)
    }

    @Test("A body runs in the isolation of its caller") @MainActor
    func isolation() async throws {
        let pool = ResourcePool(PoolServer(), Self.limit())
        var numbers: [Int] = []
        try await pool.withResource { connection in
            MainActor.assertIsolated()
            numbers.append(connection.number)
        }
        #expect(numbers == [1])
    }

    @Test("A call ends when its wait for a permit takes too long", .virtualTime)
    func timeout() async throws {
        let (server, limit) = (PoolServer(), Self.limit())
        let pool = ResourcePool(server, limit)
        let call = Task { try await pool.use { try await Task.sleep(for: .seconds(10)) } }
        try await Task.sleep(for: .seconds(1))
        await #expect(throws: TaskOperationError.self) { try await pool.withResource(timeout: .seconds(5)) { _ in } }
        #expect(try await call.value == 1)
        #expect(limit.available == 1)
    }

    @Test("A creation, a validation and a closing that do not return delay no other call", .schedules(50))
    func hanging() async throws {
        let (gate, limit) = (Gate(), Self.limit(2))
        let numbers = Recorder<Void>()
        let pool = ResourcePool<Int>(limit: limit, countsClosing: false, close: { _ in await gate.pass() }) {
            numbers.record(())
            let number = numbers.events.count
            if number == 1 { await gate.pass() }
            return number
        }
        let stuck = Task { try await pool.withResource { $0 } }
        await gate.waitForArrivals(1)
        #expect(try await pool.withResource { $0 } == 2)
        await #expect(throws: WorkFailed()) { try await pool.withResource { _ in throw WorkFailed() } }
        await gate.waitForArrivals(2)
        #expect(try await pool.withResource { $0 } == 3)
        #expect(limit.available == 1)
        gate.open()
        #expect(try await stuck.value == 1)
    }

    @Test("A resource that is being closed keeps its place, and a call waits for it or an idle one", .schedules(200))
    func closingTakesPlace() async throws {
        let (server, gate, limit) = (PoolServer(), Gate(), Self.limit(2))
        let pool = ResourcePool<PooledConnection>(
            limit: limit,
            close: { connection in
                await gate.pass()
                connection.close()
            },
            create: { server.connect() })
        let using = Gate()
        let first = Task { try await pool.use { await using.pass() } }
        await using.waitForArrivals(1)
        await #expect(throws: WorkFailed()) { try await pool.use { throw WorkFailed() } }
        await gate.waitForArrivals(1)
        let waiting = Task { try await pool.use() }
        await untilOthersWait()
        #expect(server.counts.created == 2)
        using.open()
        #expect(try await waiting.value == first.value, "The call takes the resource that became idle.")
        async let both = (pool.use { await untilOthersWait() }, pool.use())
        let cancelled = Task { try await pool.use() }
        cancelled.cancel()
        _ = await cancelled.result
        gate.open()
        _ = try await both
        #expect(server.peakOpen == 2)
        #expect(limit.available == 2)
        try await pool.close()
    }

    @Test("A creation that fails leaves its place to the next call", .schedules(50))
    func failedCreationLeavesPlace() async throws {
        let (limit, gate, attempts) = (Self.limit(2), Gate(), Recorder<Void>())
        let pool = ResourcePool<Int>(limit: limit, close: { _ in await gate.pass() }) {
            attempts.record(())
            if attempts.events.count == 2 { throw WorkFailed() }
            return attempts.events.count
        }
        await #expect(throws: WorkFailed()) { try await pool.withResource { _ in throw WorkFailed() } }
        await gate.waitForArrivals(1)
        await #expect(throws: WorkFailed()) { try await pool.withResource { $0 } }
        #expect(try await pool.withResource { $0 } == 3)
        gate.open()
        try await pool.close()
    }

    @Test("A call that is cancelled before its body begins throws, and keeps its resource in the pool", .schedules(50))
    func cancelled() async throws {
        let (gate, server, limit) = (Gate(), PoolServer(), Self.limit())
        let pool = ResourcePool<PooledConnection>(limit: limit, close: { $0.close() }) {
            await gate.pass()
            return server.connect()
        }
        let call = Task { try await pool.use() }
        await gate.waitForArrivals(1)
        call.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(pool.idleCount == 1)
        #expect(limit.available == 1)
        #expect(try await pool.use() == 1)
    }

    @Test("A validation that its cancellation interrupts closes the resource, and creates none", .schedules(50))
    func cancelledValidation() async throws {
        let (server, gate) = (PoolServer(), Gate())
        let pool = ResourcePool(
            server, Self.limit(),
            validate: { _ in
                await gate.pass()
                try Task.checkCancellation()
                return true
            })
        try await pool.use()
        let call = Task { try await pool.use() }
        await gate.waitForArrivals(1)
        call.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await pool.close()
        #expect(server.counts == .init(created: 1, closed: 1, peakUse: 1))
    }
}

// MARK: - Nested uses

extension ResourcePoolTests {
    private static let nested = ResourcePoolError.nestedUse(poolName: "db")

    @Test(
        "A nested use is refused by name, also by a child task, and with free permits", .schedules(20),
        arguments: [1, 3])
    func nestedUse(capacity: Int) async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit(capacity))
        try await pool.use {
            let error = await #expect(throws: Self.nested) { try await pool.use() }
            #expect(error?.description.contains("\"db\"") == true)
            try await withThrowingTaskGroup { group in
                group.addTask { await #expect(throws: Self.nested) { try await pool.use() } }
                try await group.waitForAll()
            }
            await #expect(throws: Self.nested) { try await withTimeout(.seconds(60)) { try await pool.use() } }
        }
        #expect(try await pool.use() == 1)
    }

    @Test("A use of another pool is refused only if both pools have one limit, at any depth", .schedules(20))
    func otherPools() async throws {
        let (server, limit) = (PoolServer(), Self.limit())
        let pools = [ResourcePool(server, limit), ResourcePool(server, Self.limit()), ResourcePool(server, limit)]
        try await pools[0].use {
            try await pools[1].use {
                for pool in pools { await #expect(throws: Self.nested) { try await pool.use() } }
            }
            try await pools[1].use()
            await #expect(throws: Self.nested) { try await pools[2].use() }
        }
        try await pools[2].use()
    }

    @Test("A task that a body creates is not the body, and waits", .schedules(100))
    func unstructured() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit())
        let (task, inner) = try await pool.withResource { connection in
            let task = Task { try await pool.use() }
            await Task.yield()
            return (task, Task { Task { try await pool.use() } })
        }
        #expect(try await task.value == 1)
        #expect(try await inner.value.value == 1)
    }

    @Test("Closures that create, validate and close are part of a use", .schedules(20))
    func closures() async throws {
        let (refused, limit) = (Recorder<String>(), Self.limit())
        let current = Lock<ResourcePool<Int>?>(nil)
        @Sendable func reenter(_ place: String) async {
            let pool = current.withLock { $0 }!
            await #expect(throws: Self.nested) { try await pool.withResource { _ in } }
            refused.record(place)
        }
        let pool = ResourcePool<Int>(
            limit: limit,
            validate: { _ in
                await reenter("validate")
                return true
            }, close: { _ in await reenter("close") }
        ) {
            await reenter("create")
            return 1
        }
        current.withLock { $0 = pool }
        for _ in 0..<2 { try await pool.withResource { _ in } }
        try await pool.close()
        current.withLock { $0 = nil }
        #expect(refused.events == ["create", "validate", "close"])
    }

    @Test("An operation that has a permit of the limit is refused by name", .schedules(20))
    func operation() async throws {
        let (server, limit) = (PoolServer(), Self.limit())
        let pool = ResourcePool(server, limit)
        let queue = TaskOperationQueue()
        await #expect(throws: Self.nested) { try await queue.run(.limit(limit)) { try await pool.use() } }
        #expect(try await queue.run { try await pool.use() } == 1)
    }

    @Test("A body that closes its own pool is refused by name, and the pool is closed", .schedules(20))
    func closingItself() async throws {
        let server = PoolServer()
        let pool = ResourcePool(server, Self.limit())
        try await pool.use {
            await #expect(throws: Self.nested) { try await pool.close(cancellingAfter: .zero) }
            #expect(!Task.isCancelled)
        }
        await #expect(throws: ResourcePoolError.closed(poolName: "db")) { try await pool.use() }
        try await pool.close()
        #expect(server.counts.open == 0)
    }
}

// MARK: - Closing

extension ResourcePoolTests {
    private static let closed = ResourcePoolError.closed(poolName: "db")

    @Test("Closing waits for the calls that have begun, and refuses later ones", .schedules(100))
    func closing() async throws {
        let (server, gate) = (PoolServer(), Gate())
        let pool = ResourcePool(server, Self.limit())
        let calls = (0..<2).map { _ in Task { try await pool.use { await gate.pass() } } }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        let closing = Task { try await pool.close() }
        await untilOthersWait()
        let error = await #expect(throws: Self.closed) { try await pool.use() }
        #expect(error?.description.contains("\"db\"") == true)
        #expect(server.counts.closed == 0)
        gate.open()
        for call in calls { #expect(try await call.value == 1) }
        try await closing.value
        #expect(server.counts == .init(created: 1, closed: 1, peakUse: 1))
        try await pool.close()
    }

    @Test("Closing cancels calls after a time, also those that wait", .virtualTime)
    func cancelling() async throws {
        let (server, limit) = (PoolServer(), Self.limit())
        let pool = ResourcePool(server, limit)
        let begin = ContinuousClock.now
        let calls = (0..<3).map { _ in Task { try await pool.use { try await Task.sleep(for: .seconds(100)) } } }
        await untilOthersWait()
        try await pool.close(cancellingAfter: .seconds(5))
        #expect(ContinuousClock.now - begin < .seconds(6))
        for call in calls { await #expect(throws: Self.closed) { try await call.value } }
        #expect(server.counts == .init(created: 1, closed: 1, peakUse: 1))
        #expect(limit.available == 1)
    }

    @Test("A call that closing cancels keeps its own error and its own value", .schedules(20))
    func ownResults() async throws {
        let pool = ResourcePool(PoolServer(), Self.limit(2))
        let failing = Task {
            try await pool.use {
                await untilCancelled()
                throw WorkFailed()
            }
        }
        let succeeding = Task { try await pool.use { await untilCancelled() } }
        await untilOthersWait()
        try await pool.close(cancellingAfter: .zero)
        await #expect(throws: WorkFailed()) { try await failing.value }
        _ = try await succeeding.value
    }

    @Test("If the task that closes is cancelled, calls and closings are cancelled", .schedules(50))
    func cancelledClosing() async throws {
        let pool = ResourcePool<Int>(limit: Self.limit(2), close: { _ in await untilCancelled() }) { 1 }
        let call = Task { try await pool.withResource { _ in await untilCancelled() } }
        await untilOthersWait()
        try await pool.withResource { _ in }
        let closing = Task { try await pool.close() }
        await untilOthersWait()
        closing.cancel()
        try await closing.value
        try await call.value
    }

    @Test("A cancellation of the calls does not cancel the closing of their resources", .schedules(20))
    func uncancelledClosings() async throws {
        let cancelled = Recorder<Bool>()
        let pool = ResourcePool<Int>(limit: Self.limit(2), close: { _ in cancelled.record(Task.isCancelled) }) { 1 }
        let call = Task { try await pool.withResource { _ in await untilCancelled() } }
        await untilOthersWait()
        try await pool.withResource { _ in }
        try await pool.close(cancellingAfter: .zero)
        try await call.value
        #expect(cancelled.events == [false, false])
    }

    @Test("Errors of closings are ignored", .schedules(20))
    func closingFails() async throws {
        let pool = ResourcePool<Int>(limit: Self.limit(), close: { _ in throw WorkFailed() }) { 1 }
        try await pool.withResource { _ in }
        try await pool.close()
        #expect(pool.idleCount == 0)
    }
}

// MARK: - Release

extension ResourcePoolTests {
    @Test("A pool that is released closes its idle resources", .schedules(50), arguments: [nil, Duration.seconds(60)])
    func release(idleTime: Duration?) async throws {
        let server = PoolServer()
        var pool: ResourcePool<PooledConnection>? = ResourcePool(server, Self.limit(), idleTime: idleTime)
        try await pool?.use()
        pool = nil
        await untilOthersWait()
        #expect(server.counts.open == 0)
    }

    @Test("A pool that is released during calls lets them end, and closes their resources", .schedules(100))
    func releaseDuringCalls() async throws {
        let (server, gate, freed) = (PoolServer(), Gate(), Gate())
        var pool: ResourcePool<PooledConnection>? = {
            let witness = Witness(freed)
            return ResourcePool<PooledConnection>(limit: Self.limit(), close: { $0.close() }) {
                _ = witness
                return server.connect()
            }
        }()
        let calls = (0..<2).map { _ in
            Task { [pool] in try await pool!.use { await gate.pass() } }
        }
        pool = nil
        await gate.waitForArrivals(1)
        gate.open()
        for call in calls { #expect(try await call.value == 1) }
        await freed.pass()
        #expect(server.counts == .init(created: 1, closed: 1, peakUse: 1))
    }

    @Test("A body that releases the last reference of its pool ends as usual", .schedules(50))
    func releaseInBody() async throws {
        let server = PoolServer()
        let holder = Lock<ResourcePool<PooledConnection>?>(ResourcePool(server, Self.limit(), idleTime: .seconds(1)))
        let pool = holder.withLock { $0 }!
        try await pool.use { holder.withLock { $0.take() } == nil ? () : await Task.yield() }
        #expect(pool.idleCount == 1)
    }

    @Test(
        "A resource may use its pool when it is freed, after its failure, its idle time and the closing",
        .schedules(50),
        arguments: [false, true])
    func hostileResource(leastRecentlyUsedFirst: Bool) async throws {
        final class Hostile: Sendable {
            let counts: Recorder<Int>
            let pool: WeakPool

            init(_ counts: Recorder<Int>, _ pool: WeakPool) { (self.counts, self.pool) = (counts, pool) }

            deinit { counts.record(pool.idleCount) }
        }
        final class WeakPool: Sendable {
            private let pool = Lock<@Sendable () -> Int>({ 0 })

            var idleCount: Int { pool.withLock { $0 }() }

            func set(_ count: @escaping @Sendable () -> Int) { pool.withLock { $0 = count } }
        }
        let (counts, reference) = (Recorder<Int>(), WeakPool())
        let pool = ResourcePool<Hostile>(
            limit: Self.limit(3), leastRecentlyUsedFirst: leastRecentlyUsedFirst, idleTime: .seconds(1),
            validate: { _ in counts.events.count != 1 }
        ) {
            Hostile(counts, reference)
        }
        reference.set { [weak pool] in pool?.idleCount ?? -1 }
        await #expect(throws: WorkFailed()) { try await pool.withResource { _ in throw WorkFailed() } }
        await untilOthersWait()
        #expect(counts.events.count == 1)
        try await pool.withResource { _ in }
        try await Task.sleep(for: .seconds(2))
        #expect(counts.events.count == 2)
        for _ in 0..<2 { try await pool.withResource { _ in } }
        try await pool.close()
        await untilOthersWait()
        #expect(counts.events.count == 3)
        reference.set { 0 }
    }
}
