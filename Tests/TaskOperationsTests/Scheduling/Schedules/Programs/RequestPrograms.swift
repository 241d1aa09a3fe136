// Requests that wait for an answer: continuations, timeouts and cancellation.

let requestPrograms = [
    PlantedFault(
        "a success and a close both resume a request", "https://github.com/meshtastic/Meshtastic-Apple/pull/1755",
        { isMended in
            let connection = Connection(isMended: isMended)
            async let one: Void = connection.complete()
            async let two: Void = connection.close()
            _ = await (one, two)
            try await require(connection.reply.resumptions == 1)
        }),
    PlantedFault(
        "a waiter that arrives during the delivery is forgotten",
        "https://github.com/GraphQLSwift/DataLoader/pull/27",
        { isMended in
            let channel = ValueChannel(isMended: isMended)
            let waiters = (0..<2).map { _ in Task { await channel.value() } }
            await channel.fulfill(1)
            for waiter in waiters { try await require(waiter.value == 1) }
        }),
    PlantedFault(
        "a request that joins a finished one gets no answer", "https://github.com/Moya/Moya/pull/2215",
        { isMended in
            let requests = InflightRequests(isMended: isMended)
            let callers = (0..<2).map { _ in Task { await requests.load() } }
            for caller in callers { try await require(caller.value == 1) }
        }),
    PlantedFault(
        "the timeout fires before the request is stored", "https://github.com/damus-io/damus/pull/3632",
        { isMended in
            let wallet = Wallet(isMended: isMended)
            try await require(wallet.request() == nil)
        }),
    PlantedFault(
        "an answer and a timeout both finish a call", "https://github.com/bearcove/vox/pull/223",
        { isMended in
            let driver = Driver(isMended: isMended)
            let timeout = Task {
                try? await Task.sleep(for: .milliseconds(1))
                await driver.finish(nil)
            }
            let answer = Task {
                try? await Task.sleep(for: .milliseconds(1))
                await driver.finish(1)
            }
            _ = await (timeout.value, answer.value)
            try await require(driver.reply.resumptions == 1)
        }),
    PlantedFault(
        "a cancellation before the download starts is lost", "https://github.com/onevcat/Kingfisher/issues/2384",
        { isMended in
            let download = CancellableDownload(isMended: isMended)
            let task = Task { await download.image() }
            task.cancel()
            try await require(task.value == nil)
        }),
    PlantedFault(
        "a flush follows the stop", "https://github.com/klaviyo/klaviyo-swift-sdk/pull/723",
        { isMended in
            let queue = RequestQueue(isMended: isMended)
            let loop = Task { await queue.run() }
            await Task.yield()
            loop.cancel()
            await queue.stop()
            await loop.value
            try await require(!queue.hasFlushedAfterStop)
        }),
    PlantedFault(
        "a cleanup in a task is late", "https://github.com/piotrekjeremicz/SwiftyNetworking/pull/12",
        { isMended in
            let registry = Registry()
            await registry.run(waitsForCleanup: isMended)
            try await require(registry.count == 0)
        }),
    PlantedFault(
        "a fade ends after the deadline of the same time",
        "https://github.com/radio-garden/react-native-audio-browser/pull/104",
        { isMended in
            let timer = SleepTimer()
            let fade = Task {
                try? await Task.sleep(for: .milliseconds(2))
                await timer.note("fade")
            }
            let deadline = Task {
                try? await Task.sleep(for: .milliseconds(2))
                if isMended { await fade.value }
                await timer.note("stop")
            }
            _ = await (fade.value, deadline.value)
            try await require(timer.events == ["fade", "stop"])
        }),
]

private actor Connection {
    let reply = Reply()
    private let isMended: Bool
    private var isPending = true

    init(isMended: Bool) { self.isMended = isMended }

    func complete() async { await finish(1) }
    func close() async { await finish(nil) }

    private func finish(_ value: Int?) async {
        guard isPending else { return }
        if isMended { isPending = false }
        await reply.resume(value)
        isPending = false
    }
}

private actor Waiters {
    private(set) var result: Int?
    private(set) var all: [CheckedContinuation<Int, Never>] = []

    func setResult(_ value: Int) { result = value }
    func append(_ waiter: CheckedContinuation<Int, Never>) { all.append(waiter) }
    func removeAll() { all = [] }

    /// Appends a waiter, or resumes it if there is a result.
    func add(_ waiter: CheckedContinuation<Int, Never>) {
        if let result { waiter.resume(returning: result) } else { append(waiter) }
    }

    func fulfill(_ value: Int) {
        result = value
        for waiter in all { waiter.resume(returning: value) }
        all = []
    }
}

private actor ValueChannel {
    private let waiters = Waiters()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func value() async -> Int {
        if let result = await waiters.result { return result }
        return await withCheckedContinuation { continuation in
            Task {
                if isMended { await waiters.add(continuation) } else { await waiters.append(continuation) }
            }
        }
    }

    func fulfill(_ value: Int) async {
        if isMended { return await waiters.fulfill(value) }
        await waiters.setResult(value)
        for waiter in await waiters.all { waiter.resume(returning: value) }
        await waiters.removeAll()
    }
}

actor InflightRequests {
    private let server = Server()
    private let isMended: Bool
    private var waiters: [CheckedContinuation<Int, Never>]?

    init(isMended: Bool) { self.isMended = isMended }

    func load() async -> Int {
        if waiters != nil { return await withCheckedContinuation { waiters!.append($0) } }
        waiters = []
        let answer = await server.answer(1)
        let joined = waiters!
        if isMended { waiters = nil }
        for waiter in joined { waiter.resume(returning: answer) }
        // Logs the answer.
        await Task.yield()
        if !isMended { waiters = nil }
        return answer
    }
}

private actor Wallet {
    private let isMended: Bool
    private var pending: CheckedContinuation<Int?, Never>?
    private let server = Server()

    init(isMended: Bool) { self.isMended = isMended }

    func request() async -> Int? {
        if !isMended { startTimeout() }
        _ = await server.answer("sent")
        return await withCheckedContinuation { continuation in
            pending = continuation
            if isMended { startTimeout() }
        }
    }

    private func startTimeout() { Task { timeOut() } }

    private func timeOut() {
        pending?.resume(returning: nil)
        pending = nil
    }
}

private actor Driver {
    let reply = Reply()
    private let isMended: Bool
    private let server = Server()
    private var isFinished = false

    init(isMended: Bool) { self.isMended = isMended }

    func finish(_ value: Int?) async {
        if isFinished { return }
        if isMended { isFinished = true }
        _ = await server.answer("log")
        await reply.resume(value)
        isFinished = true
    }
}

/// The download of a task, which a task of its own stores.
private actor CancellableDownload {
    private let isMended: Bool
    private var reply: Reply?
    private var isCancelled = false

    init(isMended: Bool) { self.isMended = isMended }

    nonisolated func image() async -> Int? {
        let reply = Reply()
        return await withTaskCancellationHandler {
            Task { await self.set(reply) }
            return await reply.value()
        } onCancel: {
            Task { await self.cancel() }
        }
    }

    private func set(_ reply: Reply) async {
        self.reply = reply
        if isMended, isCancelled { await reply.resume(nil) }
    }

    private func cancel() async {
        isCancelled = true
        await reply?.resume(nil)
    }
}

private actor RequestQueue {
    private let isMended: Bool
    private var isStopped = false
    private(set) var hasFlushedAfterStop = false

    init(isMended: Bool) { self.isMended = isMended }

    func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(2))
            if isMended, Task.isCancelled { return }
            hasFlushedAfterStop = hasFlushedAfterStop || isStopped
        }
    }

    func stop() { isStopped = true }
}

private actor Registry {
    private(set) var count = 0

    func run(waitsForCleanup: Bool) async {
        count += 1
        let cleanup = Task.detached { await self.remove() }
        if waitsForCleanup { await cleanup.value }
    }

    private func remove() { count -= 1 }
}

private actor SleepTimer {
    private(set) var events: [String] = []

    func note(_ event: String) { events.append(event) }
}
