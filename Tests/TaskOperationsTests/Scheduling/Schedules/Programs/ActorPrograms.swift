// State of an actor that is read before an await and used after it.

let actorPrograms = [
    PlantedFault(
        "a download replaces the cached image", "https://github.com/realm/SwiftLint/issues/4883",
        { isMended in
            let cache = ImageCache(isMended: isMended)
            async let one = cache.image("a")
            async let two = cache.image("a")
            let images = await [one, two, cache.image("a")]
            try require(Set(images).count == 1)
        }),
    PlantedFault(
        "a resource is downloaded twice", "https://github.com/microsoft/swift-guide/pull/47",
        { isMended in
            let tool = Tool(isMended: isMended)
            async let one: Void = tool.prepare()
            async let two: Void = tool.prepare()
            _ = await (one, two)
            try await require(tool.server.requests == 1)
        }),
    PlantedFault(
        "two requests refresh the token with the same refresh token", "https://github.com/tuist/tuist/pull/10276",
        { isMended in
            let session = Session(isMended: isMended)
            async let one = session.token()
            async let two = session.token()
            let tokens = await [one, two]
            try require(!tokens.contains(nil))
        }),
    PlantedFault(
        "a late failure deletes a newer token", "https://github.com/jonasman/TeslaSwift/pull/185",
        { isMended in
            let tokens = Tokens()
            async let failing: Void = tokens.refresh("old", fails: true, isMended: isMended)
            await tokens.refresh("old", fails: false, isMended: isMended)
            await failing
            try await require(tokens.current == "new")
        }),
    PlantedFault(
        "a process is stopped twice", "https://github.com/apple/container/pull/684",
        { isMended in
            let sandbox = Sandbox(isMended: isMended)
            async let one: Void = sandbox.stop()
            async let two: Void = sandbox.stop()
            _ = await (one, two)
            try await require(sandbox.process.requests == 1)
        }),
    PlantedFault(
        "a connection stays disconnecting", "https://github.com/GetStream/stream-chat-swift/pull/4109",
        { isMended in
            let socket = Socket(isMended: isMended)
            let closing = Task { await socket.disconnect() }
            await Task.yield()
            await socket.connect()
            await closing.value
            let (state, last) = await (socket.state, socket.calls.last)
            try require(state == last)
        }),
    PlantedFault(
        "the cleanup of an old request removes the new one", "https://github.com/OneBusAway/onebusaway-ios/pull/1254",
        { isMended in
            let shapes = Shapes(isMended: isMended)
            let first = Task { await shapes.load() }
            let second = Task {
                await shapes.invalidate()
                return await shapes.load()
            }
            _ = await (first.value, second.value)
            try await require(!shapes.hasLostRequest)
        }),
    PlantedFault(
        "an older snapshot is written last", "https://github.com/customerio/customerio-ios/pull/1064",
        { isMended in
            let store = Store(isMended: isMended)
            async let one: Void = store.set(1)
            async let two: Void = store.set(2)
            _ = await (one, two)
            let (memory, disk) = await (store.value, store.disk.value)
            try require(memory == disk)
        }),
]

private actor ImageCache {
    private let server = Server()
    private var images: [String: Int] = [:]
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func image(_ name: String) async -> Int {
        if let image = images[name] { return image }
        _ = await server.answer(name)
        // Each download creates another object.
        let image = await server.requests
        if isMended, let image = images[name] { return image }
        images[name] = image
        return image
    }
}

private actor Tool {
    let server = Server()
    private let isMended: Bool
    private var isReady = false
    private var download: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func prepare() async {
        if isReady { return }
        if isMended, let download { return await download.value }
        let download = Task { _ = await server.answer("tool") }
        self.download = download
        await download.value
        isReady = true
    }
}

/// A server that revokes a refresh token at its first use.
actor AuthorizationServer {
    private var valid = 0

    func refresh(_ refreshToken: Int) -> Int? {
        guard refreshToken == valid else { return nil }
        valid += 1
        return valid
    }
}

private actor Session {
    private let server = AuthorizationServer()
    private let isMended: Bool
    private var refreshToken = 0
    private var refresh: Task<Int?, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func token() async -> Int? {
        if isMended, let refresh { return await refresh.value }
        let task = Task { await server.refresh(refreshToken) }
        refresh = task
        guard let token = await task.value else { return nil }
        refreshToken = token
        return token
    }
}

private actor Tokens {
    private let server = Server()
    private(set) var current: String? = "old"

    func refresh(_ used: String, fails: Bool, isMended: Bool) async {
        _ = await server.answer(used)
        if fails, isMended, current != used { return }
        current = fails ? nil : "new"
    }
}

private actor Sandbox {
    let process = Server()
    private let isMended: Bool
    private var isRunning = true

    init(isMended: Bool) { self.isMended = isMended }

    func stop() async {
        guard isRunning else { return }
        if isMended { isRunning = false }
        _ = await process.answer("stop")
        isRunning = false
    }
}

private actor Socket {
    enum State { case connected, disconnecting, disconnected }

    private let server = Server()
    private let isMended: Bool
    private(set) var state = State.connected
    private(set) var calls: [State] = []
    private var connectsAgain = false

    init(isMended: Bool) { self.isMended = isMended }

    func disconnect() async {
        calls.append(.disconnected)
        state = .disconnecting
        _ = await server.answer("close")
        state = connectsAgain && isMended ? .connected : .disconnected
    }

    func connect() {
        calls.append(.connected)
        if state == .disconnecting { connectsAgain = true } else { state = .connected }
    }
}

private actor Shapes {
    private let server = Server()
    private let isMended: Bool
    private var request: Task<Int, Never>?
    private(set) var hasLostRequest = false

    init(isMended: Bool) { self.isMended = isMended }

    func load() async -> Int {
        if let request { return await request.value }
        let task = Task { await server.answer(1) }
        request = task
        let value = await task.value
        if isMended, request != task { return value }
        hasLostRequest = hasLostRequest || request != nil && request != task
        request = nil
        return value
    }

    func invalidate() { request = nil }
}

private actor Disk {
    private(set) var value = 0

    func write(_ value: Int) { self.value = value }
}

private actor Store {
    let disk = Disk()
    private let isMended: Bool
    private(set) var value = 0
    private var writing: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func set(_ new: Int) async {
        value = new
        let snapshot = value
        // Encodes the value.
        await Task.yield()
        if !isMended { return await disk.write(snapshot) }
        // Each write follows the previous one, and writes the newest value.
        let (previous, disk) = (writing, disk)
        let write = Task {
            await previous?.value
            await disk.write(value)
        }
        writing = write
        await write.value
    }
}
