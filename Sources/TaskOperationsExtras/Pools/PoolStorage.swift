import Synchronization
import TaskOperations

/// The resources of a pool, and its calls. Calls, and tasks that close resources, retain the storage, but not the pool.
final class PoolStorage<Resource: Sendable>: Sendable {
    /// A resource that is not in use.
    private final class Idle: Sendable {
        let number: Int
        let resource: Resource
        /// Ends the idle time; nil if it is unlimited.
        let timer: HandlerTimer?
        /// Whether the resource is no longer idle. Set under the lock of the storage.
        let hasLeft = Atomic(false)

        init(_ number: Int, _ resource: Resource, _ timer: HandlerTimer?) {
            (self.number, self.resource, self.timer) = (number, resource, timer)
        }
    }

    private struct State: Sendable {
        /// The idle resources. The one that was used last is the last one.
        var idle = Deque<Idle>()
        var isClosed = false
        /// The calls that have begun, by number.
        var calls: [Int: BodyCancellation] = [:]
        /// The closings of resources, by number.
        var closings: [Int: BodyCancellation] = [:]
        var cancelsClosings = false
        /// The number of resources that are created or exist.
        var resourceCount = 0
        /// The calls that wait for the end of a closing.
        var placeWaiters: [ProgressListener] = []

        mutating func takeIdle(first: Bool) -> Idle? {
            let taken = first ? idle.popFirst() : idle.popLast()
            taken?.hasLeft.store(true, ordering: .sequentiallyConsistent)
            return taken
        }

        /// Removes a resource whose idle time is over. Returns nil if the resource is no longer idle.
        mutating func expire(_ number: Int) -> Idle? {
            // All idle times are equal, so it is the first one, unless two timers started in another order.
            if idle.first?.number == number { return takeIdle(first: true) }
            var expired: Idle?
            idle.removeAll { idle in
                if idle.number == number { expired = idle }
                return idle.number == number
            }
            expired?.hasLeft.store(true, ordering: .sequentiallyConsistent)
            return expired
        }

        /// Removes all idle resources if no call can need them.
        mutating func takeUnneeded() -> [Idle] {
            if !isClosed || !calls.isEmpty { return [] }
            var unneeded: [Idle] = []
            while let next = takeIdle(first: true) { unneeded.append(next) }
            return unneeded
        }
    }

    let limit: AsyncSemaphore
    let clock: any Clock<Duration>
    private let leastRecentlyUsedFirst: Bool
    private let idleTime: Duration?
    private let countsClosing: Bool
    private let isFailure: @Sendable (any Error) -> Bool
    private let validate: @Sendable (Resource) async throws -> Bool
    private let closeResource: @Sendable (Resource) async throws -> Void
    private let create: @Sendable () async throws -> Resource
    private let state = Lock(State())
    /// The calls and the closings that have not ended.
    private let work = AsyncGroup()

    init(
        limit: AsyncSemaphore, leastRecentlyUsedFirst: Bool, idleTime: Duration?, countsClosing: Bool,
        clock: any Clock<Duration>, isFailure: @escaping @Sendable (any Error) -> Bool,
        validate: @escaping @Sendable (Resource) async throws -> Bool,
        close: @escaping @Sendable (Resource) async throws -> Void,
        create: @escaping @Sendable () async throws -> Resource
    ) {
        self.limit = limit
        self.leastRecentlyUsedFirst = leastRecentlyUsedFirst
        self.idleTime = idleTime
        self.countsClosing = countsClosing
        self.clock = clock
        self.isFailure = isFailure
        self.validate = validate
        closeResource = close
        self.create = create
    }

    var idleCount: Int { state.withLock { $0.idle.count } }

    // MARK: - Calls

    /// Makes a call, unless the pool is closed or the caller already has a permit.
    ///
    /// - Parameter body: Waits for a permit, and then calls `lend`.
    func call<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        if PoolLoan.has(limit) { throw ResourcePoolError.nestedUse(poolName: limit.name) }
        let (number, call) = (AnyTaskOperation.nextWaitNumber(), BodyCancellation())
        let isOpen = state.withLock { state in
            if state.isClosed { return false }
            state.calls[number] = call
            // Before a thread that closes the pool can wait.
            work.enter()
            return true
        }
        if !isOpen { throw ResourcePoolError.closed(poolName: limit.name) }
        defer { endCall(number) }
        do {
            return try await call.run(body)
        } catch is CancellationError where call.hasCancelled {
            throw ResourcePoolError.closed(poolName: limit.name)
        }
    }

    private func endCall(_ number: Int) {
        let (call, unneeded) = state.withLock { state in
            let call = state.calls.removeValue(forKey: number)
            state.calls.shrink()
            return (call, state.takeUnneeded())
        }
        extendLifetime(call)
        for idle in unneeded { close(idle) }
        work.leave()
    }

    /// Calls a function with a resource. The caller has a permit.
    func lend<Value>(
        isolation: isolated (any Actor)? = #isolation, to body: (Resource) async throws -> Value
    ) async throws -> Value {
        try await PoolLoan.during(limit) {
            let resource = try await obtain()
            if Task.isCancelled {
                keep(resource)
                throw CancellationError()
            }
            do {
                let value = try await body(resource)
                keep(resource)
                return value
            } catch {
                if isFailure(error) { close(resource) } else { keep(resource) }
                throw error
            }
        }
    }

    private enum Supply: Sendable {
        case idle(Idle)
        /// There is a place for a new resource, which is counted now.
        case place
        /// Resources that are being closed take all places.
        case closing
    }

    /// A valid idle resource, or a new one.
    private func obtain() async throws -> Resource {
        var listener: ProgressListener?
        while true {
            switch nextSupply(listener) {
            case .idle(let idle):
                idle.timer?.end()
                if let isValid = try? await validate(idle.resource), isValid { return idle.resource }
                close(idle.resource)
                try Task.checkCancellation()
            case .place:
                do {
                    return try await create()
                } catch {
                    changeAndWake { $0.resourceCount -= 1 }
                    throw error
                }
            case .closing:
                if let listener {
                    if await !listener.nextChange() { throw CancellationError() }
                } else {
                    listener = ProgressListener()
                }
            }
        }
    }

    /// - Parameter listener: Wakes the caller after `closing`, when a closing ends or a resource becomes idle.
    private func nextSupply(_ listener: ProgressListener?) -> Supply {
        let capacity = limit.capacity
        return state.withLock { state in
            if let idle = state.takeIdle(first: leastRecentlyUsedFirst) { return .idle(idle) }
            if countsClosing, !state.closings.isEmpty, state.resourceCount >= capacity {
                if let listener { state.placeWaiters.append(listener) }
                return .closing
            }
            state.resourceCount += 1
            return .place
        }
    }

    /// Changes the state so that a call can perhaps obtain a resource, and wakes the calls that wait for one.
    private func changeAndWake<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, waiters) = state.withLock { (change(&$0), exchange(&$0.placeWaiters, with: [])) }
        for waiter in waiters { waiter.wake() }
        return result
    }

    // MARK: - Idle resources

    /// Makes a resource idle. The caller still has its permit, so that the next call finds the resource.
    private func keep(_ resource: Resource) {
        if let idleTime, idleTime <= .zero { return close(resource) }
        let number = AnyTaskOperation.nextWaitNumber()
        let timer = idleTime.map { _ in HandlerTimer { [weak self] in self?.expire(number) } }
        let idle = Idle(number, resource, timer)
        changeAndWake { $0.idle.append(idle) }
        guard let timer, let idleTime else { return }
        timer.start(idleTime, clock: clock)
        // If another call took the resource before this timer started, nothing else ends the timer.
        if idle.hasLeft.load(ordering: .sequentiallyConsistent) { timer.end() }
    }

    private func expire(_ number: Int) {
        if let idle = state.withLock({ $0.expire(number) }) { close(idle.resource) }
    }

    private func close(_ idle: Idle) {
        idle.timer?.end()
        close(idle.resource)
    }

    // MARK: - Closing

    /// Closes a resource in a task of its own.
    private func close(_ resource: Resource) {
        let (number, closing) = (AnyTaskOperation.nextWaitNumber(), BodyCancellation())
        work.enter()
        let isCancelled = state.withLock { state in
            state.closings[number] = closing
            return state.cancelsClosings
        }
        if isCancelled { closing.cancel() }
        Task.detached { [self] in
            try? await closing.run {
                try await PoolLoan.during(limit) { try await closeResource(resource) }
            }
            endClosing(number)
        }
    }

    private func endClosing(_ number: Int) {
        let closing = changeAndWake { state in
            state.resourceCount -= 1
            defer { state.closings.shrink() }
            return state.closings.removeValue(forKey: number)
        }
        extendLifetime(closing)
        work.leave()
    }

    /// Refuses later calls, and closes resources that no call can need.
    func shut() {
        let unneeded = state.withLock { state in
            state.isClosed = true
            return state.takeUnneeded()
        }
        for idle in unneeded { close(idle) }
    }

    /// Waits until all calls have ended, and all resources are closed. Call it after `shut`.
    func waitUntilClosed(cancellingAfter limit: Duration?) async throws(ResourcePoolError) {
        if PoolLoan.has(self.limit) { throw .nestedUse(poolName: self.limit.name) }
        await withTimeoutHandler(limit, clock: clock) {
            await withTaskCancellationHandler {
                await work.wait()
            } onCancel: {
                cancel(closings: true)
            }
        } onTimeout: { [self] in
            cancel(closings: false)
        }
    }

    private func cancel(closings: Bool) {
        let cancelled = state.withLock { state in
            if closings { state.cancelsClosings = true }
            return Array(state.calls.values) + (closings ? Array(state.closings.values) : [])
        }
        for work in cancelled { work.cancel() }
    }
}
