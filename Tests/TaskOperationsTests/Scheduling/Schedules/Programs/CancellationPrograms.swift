// Cancellation at an await. Without it, these programs hold.

let cancellationPrograms = [
    PlantedFault(
        "a permit of a cancelled waiter is lost", "https://github.com/Mesh-LLM/mesh-llm/pull/1444",
        faults: .cancellation,
        { isMended in
            let scheduler = RequestScheduler(isMended: isMended)
            let requests = (0..<2).map { _ in Task { try await scheduler.withPermit { await Task.yield() } } }
            for request in requests { _ = await request.result }
            try await require(!scheduler.isOccupied)
        }),
    PlantedFault(
        "a reply after the cancellation resumes the request again",
        "https://github.com/swiftlang/swift-tools-protocols/pull/77", faults: .cancellation,
        { isMended in
            let peer = Peer(isMended: isMended)
            _ = await Task { await peer.request() }.value
            await peer.answer?.value
            try await require(peer.reply.resumptions == 1)
        }),
    PlantedFault(
        "the cancellation of one caller ends the request of all",
        "https://github.com/apple/swift-openapi-generator/issues/919", faults: .cancellation,
        { isMended in
            let client = SharingClient(isMended: isMended)
            let callers = (0..<2).map { _ in Task { try await client.load() } }
            var answers: [Int?] = []
            for caller in callers { answers.append(try? await caller.value) }
            try require(answers != [nil, nil])
        }),
    PlantedFault(
        "a feed stays loading", "https://github.com/mlemgroup/mlem/pull/1223", faults: .cancellation,
        { isMended in
            let feed = await Feed(isMended: isMended)
            let views = (0..<2).map { _ in Task { await feed.load() } }
            for view in views { await view.value }
            try await require(feed.state != .loading)
        }),
    PlantedFault(
        "a flag without defer blocks later refreshes", "https://github.com/vultisig/vultisig-ios/pull/4290",
        faults: .cancellation,
        { isMended in
            let screen = await Screen(isMended: isMended)
            for _ in 0..<2 { _ = await Task { try await screen.refresh() }.result }
            // At most one refresh was cancelled.
            try await require(screen.refreshes > 0)
        }),
    PlantedFault(
        "a transaction stays open", "https://github.com/oxidecomputer/async-bb8-diesel/issues/47",
        faults: .cancellation,
        { isMended in
            let database = Database()
            _ = await Task { try await database.insertInTransaction([1, 2], rollsBack: isMended) }.result
            await database.insert(3)
            try await require(database.rows.last == 3)
        }),
    PlantedFault(
        "a cancelled upload is retried", "https://github.com/Shopify/mobile-buy-sdk-ios/pull/864",
        faults: .cancellation,
        { isMended in
            let server = Server()
            _ = await Task { try await upload(to: server, isMended: isMended) }.result
            try await require(server.requests <= 1)
        }),
    PlantedFault(
        "a cancellation before the wait is lost", "https://github.com/apple/swift-async-algorithms/pull/80",
        faults: .cancellation,
        { isMended in
            let channel = AnswerChannel(isMended: isMended)
            _ = await Task { await channel.answer() }.value
        }),
    PlantedFault(
        "a producer outlives its cancelled consumer", "https://github.com/reddavis/Asynchrone/pull/42",
        faults: .cancellation,
        { isMended in
            let server = Server()
            let consumer = Task { for await _ in pages(of: server, isMended: isMended) {} }
            await consumer.value
            let requests = await server.requests
            try? await Task.sleep(for: .milliseconds(1))
            // One request may still have been under way.
            try await require(server.requests <= requests + 1)
        }),
    PlantedFault(
        "a cancellation ends the cleanup, too", "https://github.com/pydantic/monty/pull/639",
        faults: .cancellation,
        { isMended in
            let pool = WorkerPool(isMended: isMended)
            _ = await Task { try await pool.run() }.result
            try await require(pool.workers == 0)
        }),
    PlantedFault(
        "a connection returns in the middle of a response", "https://github.com/http4s/http4s-netty/pull/999",
        faults: .cancellation,
        { isMended in
            let pool = WirePool(isMended: isMended)
            _ = await Task { try await pool.response(to: 1) }.result
            try await require(pool.response(to: 2) == [2, 2])
        }),
    PlantedFault(
        "a cancelled writer still counts", "https://github.com/CambrianTech/continuum/pull/4083",
        faults: .cancellation,
        { isMended in
            let lock = DocumentLock(isMended: isMended)
            let writers = (0..<2).map { _ in Task { try await lock.write() } }
            for writer in writers { _ = await writer.result }
            try await require(lock.canRead)
        }),
]

private actor RequestScheduler {
    private let isMended: Bool
    private(set) var isOccupied = false
    private var waiters: [CheckedContinuation<Bool, Never>?] = []

    init(isMended: Bool) { self.isMended = isMended }

    func withPermit(_ body: @Sendable () async -> Void) async throws {
        if isOccupied { try await wait() } else { isOccupied = true }
        await body()
        release()
    }

    private func wait() async throws {
        let index = waiters.count
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { waiters.append($0) }
        } onCancel: {
            Task { await self.cancel(index) }
        }
        if isAdmitted, Task.isCancelled, isMended { release() }
        try Task.checkCancellation()
    }

    /// Passes the permit to the first waiter.
    private func release() {
        guard let first = waiters.firstIndex(where: { $0 != nil }) else { return isOccupied = false }
        waiters[first].take()?.resume(returning: true)
    }

    private func cancel(_ index: Int) { waiters[index].take()?.resume(returning: false) }
}

private actor Peer {
    let reply = Reply()
    private(set) var answer: Task<Void, Never>?
    private let server = Server()
    private let isMended: Bool
    private var isPending = true

    init(isMended: Bool) { self.isMended = isMended }

    func request() async -> Int? {
        answer = Task { await receive(server.answer(1)) }
        return await withTaskCancellationHandler {
            await reply.value()
        } onCancel: {
            Task { await self.cancel() }
        }
    }

    private func receive(_ value: Int) async {
        guard isPending else { return }
        isPending = false
        await reply.resume(value)
    }

    private func cancel() async {
        guard isPending else { return }
        if isMended { isPending = false }
        await reply.resume(nil)
    }
}

private actor SharingClient {
    private let server = Server()
    private let isMended: Bool
    private var request: Task<Int, any Error>?
    private var callers = 0

    init(isMended: Bool) { self.isMended = isMended }

    func load() async throws -> Int {
        let request = request ?? Task { try await server.fetch(1) }
        self.request = request
        callers += 1
        return try await withTaskCancellationHandler {
            try await request.value
        } onCancel: {
            Task { await self.leave() }
        }
    }

    private func leave() {
        callers -= 1
        if isMended, callers > 0 { return }
        request?.cancel()
        request = nil
    }
}

@MainActor private final class Feed {
    enum State { case idle, loading, loaded }

    private let server = Server()
    private let isMended: Bool
    private(set) var state = State.idle

    init(isMended: Bool) { self.isMended = isMended }

    func load() async {
        if state == .loading { return }
        state = .loading
        do {
            _ = try await server.fetch("feed")
            state = .loaded
        } catch {
            // The view that would show the error is gone.
            if isMended { state = .idle }
        }
    }
}

@MainActor private final class Screen {
    private let server = Server()
    private let isMended: Bool
    private var isRefreshing = false
    private(set) var refreshes = 0

    init(isMended: Bool) { self.isMended = isMended }

    func refresh() async throws {
        if isRefreshing { return }
        isRefreshing = true
        defer { if isMended { isRefreshing = false } }
        async let bonds = server.fetch("bonds")
        async let pools = server.fetch("pools")
        _ = try await (bonds, pools)
        refreshes += 1
        isRefreshing = false
    }
}

private actor Database {
    /// The committed rows.
    private(set) var rows: [Int] = []
    private var transaction: [Int]?

    func begin() { transaction = transaction ?? rows }
    func rollBack() { transaction = nil }

    func commit() {
        rows = transaction ?? rows
        transaction = nil
    }

    /// Inserts a row into the open transaction, if there is one.
    func insert(_ row: Int) {
        if transaction == nil { rows.append(row) } else { transaction!.append(row) }
    }

    nonisolated func insertInTransaction(_ rows: [Int], rollsBack: Bool) async throws {
        await begin()
        do {
            for row in rows {
                try Task.checkCancellation()
                await insert(row)
            }
        } catch {
            if rollsBack { await rollBack() }
            throw error
        }
        await commit()
    }
}

private func upload(to server: Server, isMended: Bool) async throws {
    for attempt in 1...3 {
        do {
            return _ = try await server.fetch("upload")
        } catch {
            if attempt == 3 || isMended && error is CancellationError { throw error }
        }
    }
}

/// The other side does not answer a request whose cancellation it was told.
private actor AnswerChannel {
    private let isMended: Bool
    private var isCancelled = false
    private var waiter: CheckedContinuation<Int?, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    nonisolated func answer() async -> Int? {
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            Task { await self.cancel() }
        }
    }

    private func wait() async -> Int? {
        if isMended, isCancelled { return nil }
        return await withCheckedContinuation { continuation in
            waiter = continuation
            Task { if !isCancelled { resume(1) } }
        }
    }

    private func cancel() {
        isCancelled = true
        resume(nil)
    }

    private func resume(_ value: Int?) {
        waiter?.resume(returning: value)
        waiter = nil
    }
}

private func pages(of server: Server, isMended: Bool) -> AsyncStream<Int> {
    AsyncStream { continuation in
        let producer = Task {
            for page in 0..<5 {
                if Task.isCancelled { return }
                await continuation.yield(server.answer(page))
            }
            continuation.finish()
        }
        if isMended { continuation.onTermination = { _ in producer.cancel() } }
    }
}

private actor WorkerPool {
    private let server = Server()
    private let isMended: Bool
    private(set) var workers = 0

    init(isMended: Bool) { self.isMended = isMended }

    func run() async throws {
        workers += 1
        _ = try? await server.fetch("job")
        if isMended { try await Task { try await stop() }.value } else { try await stop() }
    }

    /// Waits for the end of the process before the worker counts no longer.
    private func stop() async throws {
        try await Task.sleep(for: .milliseconds(1))
        workers -= 1
    }
}

/// A connection on which a response has two lines.
private actor Wire {
    private var lines: [Int] = []

    func send(_ request: Int) { lines += [request, request] }
    func nextLine() -> Int { lines.removeFirst() }
}

private actor WirePool {
    private let isMended: Bool
    private var idle = [Wire()]

    init(isMended: Bool) { self.isMended = isMended }

    func response(to request: Int) async throws -> [Int] {
        let wire = idle.popLast() ?? Wire()
        var lines: [Int] = []
        defer { if lines.count == 2 || !isMended { idle.append(wire) } }
        await wire.send(request)
        while lines.count < 2 {
            try Task.checkCancellation()
            await lines.append(wire.nextLine())
        }
        return lines
    }
}

private actor DocumentLock {
    private let server = Server()
    private let isMended: Bool
    private var isWriting = false
    private var waitingWriters = 0

    init(isMended: Bool) { self.isMended = isMended }

    /// Writers precede readers.
    var canRead: Bool { !isWriting && waitingWriters == 0 }

    func write() async throws {
        waitingWriters += 1
        do {
            while isWriting { try await Task.sleep(for: .milliseconds(1)) }
        } catch {
            if isMended { waitingWriters -= 1 }
            throw error
        }
        waitingWriters -= 1
        isWriting = true
        _ = await server.answer("written")
        isWriting = false
    }
}
