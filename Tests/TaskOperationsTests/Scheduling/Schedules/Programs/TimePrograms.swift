// Time that moves although work is ready. Without it, these programs hold.

let timePrograms = [
    PlantedFault(
        "a timeout during the write is lost", "https://github.com/PADL/SwiftOCA/pull/56", faults: .time,
        { isMended in
            let device = Device(isMended: isMended)
            try await require(device.send() == nil)
        }),
    PlantedFault(
        "a connection that opens at the timeout leaks", "https://github.com/nats-io/nats.js/issues/64", faults: .time,
        { isMended in
            let connector = Connector(isMended: isMended)
            if let connection = await connector.connect() { await connector.network.close(connection) }
            await connector.opening?.value
            try await require(connector.network.open.isEmpty)
        }),
    PlantedFault(
        "a flag expires between the check and the read", "https://github.com/carta/flipper-client/pull/32",
        faults: .time,
        { isMended in
            let flags = ExpiringFlags()
            await flags.set("dark", lifetime: .milliseconds(5))
            try await require(flags.value(isMended: isMended) != nil)
        }),
    PlantedFault(
        "a heartbeat overlooks a reply in the queue", "https://github.com/openclaw/openclaw/issues/105698",
        faults: .time,
        { isMended in
            let heartbeat = Heartbeat(isMended: isMended)
            await heartbeat.run()
            try await require(!heartbeat.isDead)
        }),
    PlantedFault(
        "a cancelled save runs after its sleep", "https://github.com/crmitchelmore/justspeaktoit/issues/870",
        faults: .time,
        { isMended in
            let draft = await Draft(isMended: isMended)
            for text in ["a", "b"] {
                await draft.change(text)
                await Task.yield()
            }
            try? await Task.sleep(for: .milliseconds(50))
            let saved = await draft.saved
            try require(Set(saved).count == saved.count)
        }),
    PlantedFault(
        "a lease expires before the write", "https://github.com/bsm/redislock/issues/93", faults: .time,
        { isMended in
            let storage = LeasedStorage(isMended: isMended)
            async let one = storage.increment()
            async let two = storage.increment()
            let writes = await [one, two].count { $0 }
            try await require(storage.value == writes)
        }),
    PlantedFault(
        "a token expires on the way to the server", "https://github.com/AlaskaAirlines/atom/issues/4", faults: .time,
        { isMended in
            let client = TokenClient(isMended: isMended)
            for _ in 0..<2 { try await require(client.send()) }
        }),
    PlantedFault(
        "the timer of an old attempt ends the new one", "https://github.com/permissionlesstech/bitchat/pull/1676",
        faults: .time,
        { isMended in
            let radio = Radio(isMended: isMended)
            await radio.connect()
            await radio.disconnect()
            await radio.connect()
            await Task.yield()
            await radio.complete()
            try await require(!radio.hasEndedOther)
        }),
    PlantedFault(
        "a new window inherits the count of the old one", "https://github.com/JhaSourav07/commitpulse/issues/4130",
        faults: .time,
        { isMended in
            let limiter = Limiter(isMended: isMended)
            await limiter.startWindow(.milliseconds(5))
            _ = await limiter.admit()
            let windows = await limiter.windows
            _ = await limiter.admit()
            let isNew = await limiter.windows > windows
            let isAdmitted = await limiter.admit()
            try require(!isNew || isAdmitted)
        }),
]

/// A device that never answers.
private actor Device {
    private let server = Server()
    private let isMended: Bool
    private var request: Reply?

    init(isMended: Bool) { self.isMended = isMended }

    func send() async -> Int? {
        let reply = Reply()
        if isMended { request = reply }
        Task {
            try? await Task.sleep(for: .milliseconds(5))
            await request?.resume(nil)
        }
        _ = await server.answer("written")
        request = reply
        return await reply.value()
    }
}

private actor Network {
    private(set) var open: Set<Int> = []

    func connect() -> Int {
        open.insert(open.count)
        return open.count - 1
    }

    func close(_ connection: Int) { open.remove(connection) }
}

private actor Connector {
    let network = Network()
    private(set) var opening: Task<Void, Never>?
    private let reply = Reply()
    private let isMended: Bool
    private var isFinished = false

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns a connection; nil if the timeout precedes it.
    func connect() async -> Int? {
        opening = Task {
            let connection = await network.connect()
            if await !finish(connection), isMended { await network.close(connection) }
        }
        Task {
            try? await Task.sleep(for: .milliseconds(5))
            _ = await finish(nil)
        }
        return await reply.value()
    }

    /// Returns false if the call was already finished.
    private func finish(_ connection: Int?) async -> Bool {
        if isFinished { return false }
        isFinished = true
        await reply.resume(connection)
        return true
    }
}

private actor ExpiringFlags {
    private var flag: String?

    func set(_ value: String, lifetime: Duration) {
        flag = value
        Task {
            try? await Task.sleep(for: lifetime)
            flag = nil
        }
    }

    var isCached: Bool { flag != nil }
    var cached: String? { flag }

    nonisolated func value(isMended: Bool) async -> String? {
        if isMended { return await cached ?? "default" }
        guard await isCached else { return "default" }
        // Counts the hit.
        await Task.yield()
        return await cached
    }
}

/// The peer answers each ping at once.
private actor Heartbeat {
    private let isMended: Bool
    private var awaitsPong = false
    private var queue: [String] = []
    private(set) var isDead = false

    init(isMended: Bool) { self.isMended = isMended }

    func run() async {
        for _ in 0..<3 {
            if isMended { handleFrames() }
            if awaitsPong { isDead = true }
            awaitsPong = true
            queue.append("pong")
            Task.detached { await self.handleFrames() }
            try? await Task.sleep(for: .milliseconds(25))
        }
    }

    private func handleFrames() {
        if !queue.isEmpty { awaitsPong = false }
        queue = []
    }
}

@MainActor private final class Draft {
    private let isMended: Bool
    private var text = ""
    private(set) var saved: [String] = []
    private var save: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func change(_ text: String) {
        self.text = text
        save?.cancel()
        save = Task {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
            if isMended, Task.isCancelled { return }
            saved.append(self.text)
        }
    }
}

private actor LeasedStorage {
    private let isMended: Bool
    private(set) var value = 0
    private var holder: Int?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var lastToken = 0
    /// The newest token with which the value was accessed.
    private var newestToken = 0

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns false if the lease was lost.
    nonisolated func increment() async -> Bool {
        let token = await acquire()
        let old = await read(token)
        let isWritten = await write(old + 1, token)
        await release(token)
        return isWritten
    }

    private func acquire() async -> Int {
        while holder != nil { await withCheckedContinuation { waiters.append($0) } }
        lastToken += 1
        let token = lastToken
        holder = token
        Task {
            try? await Task.sleep(for: .milliseconds(5))
            release(token)
        }
        return token
    }

    private func release(_ token: Int) {
        guard holder == token else { return }
        holder = nil
        if !waiters.isEmpty { waiters.removeFirst().resume() }
    }

    private func read(_ token: Int) -> Int {
        newestToken = max(newestToken, token)
        return value
    }

    private func write(_ new: Int, _ token: Int) -> Bool {
        if isMended, token < newestToken { return false }
        value = new
        return true
    }
}

/// An interface that accepts a token for five milliseconds.
private actor TokenService {
    private var token = 0

    func makeToken() -> Int {
        token += 1
        let made = token
        Task {
            try? await Task.sleep(for: .milliseconds(5))
            if token == made { token += 1 }
        }
        return made
    }

    func isValid(_ token: Int?) -> Bool { token == self.token }
}

private actor TokenClient {
    private let service = TokenService()
    private let isMended: Bool
    private var token: Int?

    init(isMended: Bool) { self.isMended = isMended }

    func send() async -> Bool {
        if await !service.isValid(token) { token = await service.makeToken() }
        // The request is on its way.
        await Task.yield()
        var isAccepted = await service.isValid(token)
        while !isAccepted, isMended {
            token = await service.makeToken()
            isAccepted = await service.isValid(token)
        }
        return isAccepted
    }
}

private actor Radio {
    enum State { case idle, connecting, connected }

    private let isMended: Bool
    private var state = State.idle
    private var attempt = 0
    private(set) var hasEndedOther = false

    init(isMended: Bool) { self.isMended = isMended }

    func connect() {
        state = .connecting
        attempt += 1
        let own = attempt
        Task {
            try? await Task.sleep(for: .milliseconds(8))
            timeOut(own)
        }
    }

    func disconnect() { state = .idle }
    func complete() { if state == .connecting { state = .connected } }

    private func timeOut(_ own: Int) {
        guard state == .connecting, !isMended || own == attempt else { return }
        state = .idle
        hasEndedOther = hasEndedOther || own != attempt
    }
}

private actor Window {
    private(set) var count = 0
    private(set) var number = 0

    func set(_ count: Int) { self.count = count }

    func reset() {
        count = 0
        number += 1
    }

    /// Counts an event if there were fewer than `limit`.
    func add(below limit: Int) -> Bool {
        if count >= limit { return false }
        count += 1
        return true
    }
}

private actor Limiter {
    private let window = Window()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    var windows: Int { get async { await window.number } }

    func startWindow(_ length: Duration) {
        Task {
            try? await Task.sleep(for: length)
            await window.reset()
        }
    }

    func admit() async -> Bool {
        if isMended { return await window.add(below: 2) }
        let count = await window.count
        guard count < 2 else { return false }
        // Logs the request.
        await Task.yield()
        await window.set(count + 1)
        return true
    }
}
