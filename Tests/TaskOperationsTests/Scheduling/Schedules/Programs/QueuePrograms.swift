import TaskOperations

// Groups of tasks, and queues of this package.

let queuePrograms = [
    PlantedFault(
        "results of a group are in the order of their ends", "https://github.com/element-hq/element-x-ios/pull/4436",
        { isMended in
            let server = Server()
            var results = await withTaskGroup(of: Int.self) { group in
                for index in 0..<3 { group.addTask { await server.answer(index) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            if isMended { results.sort() }
            try require(results == [0, 1, 2])
        }),
    PlantedFault(
        "a cancelled waiter ends a shared request for the others",
        "https://github.com/AlaskaAirlines/atom/pull/23",
        { isMended in
            let service = Service(isMended: isMended)
            let callers = (0..<2).map { _ in Task { await service.load() } }
            callers[0].cancel()
            for caller in callers { await caller.value }
            try await require(service.requests == 1)
        }),
    PlantedFault(
        "a stale end starts the next job of a replaced queue",
        "https://github.com/VergeGroup/swift-concurrency-task-manager/pull/15",
        { isMended in
            let manager = Manager(isMended: isMended)
            await manager.replace(with: [1, 2])
            await Task.yield()
            await manager.replace(with: [3, 4, 5])
            try? await manager.queue.waitUntilAllOperationsAreFinished()
            try await require(manager.mostAtOnce == 1)
        }),
    PlantedFault(
        "a timer creates a connection after the shutdown",
        "https://github.com/swift-server/async-http-client/pull/419",
        { isMended in
            let pool = Pool(isMended: isMended)
            pool.queue.addOperation { await pool.backOff() }
            try? await Task.sleep(for: .milliseconds(2))
            await pool.shutDown()
            try? await pool.queue.waitUntilAllOperationsAreFinished()
            try await require(pool.connections == 0)
        }),
    PlantedFault(
        "a second path refreshes the token outside the lock", "https://github.com/home-assistant/iOS/issues/1300",
        { isMended in
            let manager = TokenManager(isMended: isMended)
            async let one: Void = manager.refresh()
            async let two: Void = manager.refreshForWebView()
            _ = await (one, two)
            try await require(manager.server.requests == 1)
        }),
]

private actor Service {
    private let server = Server()
    private let isMended: Bool
    private let queue = TaskOperationQueue()
    private var request: TaskOperation<Int>?
    private(set) var requests = 0

    init(isMended: Bool) { self.isMended = isMended }

    func load() async {
        if let request {
            _ = try? await request.value
            return
        }
        requests += 1
        let operation = queue.addOperation { [server] in await server.answer(1) }
        request = operation
        if Task.isCancelled, !isMended {
            // The waiter that is cancelled removes the request, although it still runs.
            request = nil
            return
        }
        _ = try? await operation.value
    }
}

private actor Manager {
    nonisolated let queue = TaskOperationQueue()
    private let server = Server()
    private let isMended: Bool
    private var generation = 0
    private var pending: [Int] = []
    private var running = 0
    private(set) var mostAtOnce = 0

    init(isMended: Bool) { self.isMended = isMended }

    /// The jobs that run already count no longer.
    func replace(with jobs: [Int]) {
        generation += 1
        (pending, running) = (jobs, 0)
        startNext()
    }

    private func startNext() {
        guard !pending.isEmpty else { return }
        let (job, own) = (pending.removeFirst(), generation)
        running += 1
        mostAtOnce = max(mostAtOnce, running)
        queue.addOperation {
            _ = await self.server.answer(job)
            await self.end(own)
        }
    }

    private func end(_ own: Int) {
        if isMended, own != generation { return }
        if own == generation { running -= 1 }
        startNext()
    }
}

private actor Pool {
    nonisolated let queue = TaskOperationQueue()
    private let isMended: Bool
    private(set) var connections = 0
    private var isShutDown = false

    init(isMended: Bool) { self.isMended = isMended }

    func backOff() async {
        try? await Task.sleep(for: .milliseconds(2))
        if Task.isCancelled { return }
        await connect()
    }

    private func connect() async {
        await Task.yield()
        if isMended, isShutDown { return }
        connections += 1
    }

    func shutDown() {
        isShutDown = true
        connections = 0
        queue.cancelAllOperations()
    }
}

private actor TokenManager {
    let server = Server()
    private let isMended: Bool
    private let lock = AsyncSemaphore(capacity: 1)
    private var isExpired = true

    init(isMended: Bool) { self.isMended = isMended }

    func refresh() async { try? await lock.withPermit { await renew() } }

    func refreshForWebView() async {
        if isMended { await refresh() } else { await renew() }
    }

    private func renew() async {
        guard isExpired else { return }
        _ = await server.answer("token")
        isExpired = false
    }
}
