import TaskOperations
import TaskOperationsTesting
import Testing

/// An actor with a fault of reentrancy that a public report names, and its mended twin.
struct ReentrantActor: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let report: String
    /// Explores calls of the actor.
    let explore: @Sendable (_ isMended: Bool, Schedules) throws -> Void

    init<Subject: Actor>(
        _ name: String, _ report: String, _ create: @escaping @Sendable (_ isMended: Bool) -> Subject,
        _ calls: Schedules.Calls<Subject>
    ) {
        (testDescription, self.report) = (name, report)
        explore = { isMended, schedules in try schedules.linearizable({ create(isMended) }, calls: calls) }
    }

    static let all = [
        Self(
            "an account is overdrawn", "https://github.com/LeeKahSeng/SwiftSenpai-Swift-Concurrency/pull/2",
            { Account(isMended: $0) },
            ["withdraw(60)": { await $0.withdraw(60) }, "balance": { await $0.balance }]),
        Self(
            "a process is stopped twice", "https://github.com/apple/container/pull/684",
            { Sandbox(isMended: $0) },
            ["stop": { await $0.stop() }]),
        Self(
            "a download replaces the cached image", "https://github.com/realm/SwiftLint/issues/4883",
            { ImageCache(isMended: $0) },
            ["image(a)": { await $0.image("a") }, "image(b)": { await $0.image("b") }]),
        Self(
            "two requests refresh the token with the same refresh token", "https://github.com/tuist/tuist/pull/10276",
            { Session(isMended: $0) },
            ["token": { await $0.token() }]),
        Self(
            "a waiter that arrives during the delivery is forgotten",
            "https://github.com/GraphQLSwift/DataLoader/pull/27",
            { Channel(isMended: $0) },
            ["value": { await $0.value() }, "fulfill": { await $0.fulfill(1) }]),
        Self(
            "a request that joins a finished one gets no answer", "https://github.com/Moya/Moya/pull/2215",
            { InflightRequests(isMended: $0) },
            ["load": { await $0.load() }]),
        Self(
            "a resource is downloaded twice", "https://github.com/microsoft/swift-guide/pull/47",
            { Tool(isMended: $0) },
            ["prepare": { await $0.prepare() }]),
        Self(
            "a second path refreshes the token outside the lock", "https://github.com/home-assistant/iOS/issues/1300",
            { TokenManager(isMended: $0) },
            ["refresh": { await $0.refresh() }, "refreshForWebView": { await $0.refreshForWebView() }]),
        Self(
            "a success and a close both end a request", "https://github.com/meshtastic/Meshtastic-Apple/pull/1755",
            { Connection(isMended: $0) },
            [
                "complete": { await $0.end("success") }, "close": { await $0.end("closed") },
                "result": { await $0.result },
            ]),
        Self(
            "a page is loaded twice", "https://github.com/algolia/instantsearch-core-swift/pull/85",
            { Pages(isMended: $0) },
            ["loadMore": { await $0.loadMore() }]),
    ]
}

private actor Account {
    private let server = Server()
    private let isMended: Bool
    private(set) var balance = 100

    init(isMended: Bool) { self.isMended = isMended }

    func withdraw(_ amount: Int) async -> Bool {
        guard balance >= amount else { return false }
        if isMended { balance -= amount }
        _ = await server.answer("authorized")
        if !isMended { balance -= amount }
        return true
    }
}

private actor Sandbox {
    private let process = Server()
    private let isMended: Bool
    private var isRunning = true

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns whether this call has stopped the process.
    func stop() async -> Bool {
        guard isRunning else { return false }
        if isMended { isRunning = false }
        _ = await process.answer("stop")
        isRunning = false
        return true
    }
}

private actor ImageCache {
    private final class Image: Sendable {}

    private let server = Server()
    private let isMended: Bool
    private var images: [String: Image] = [:]
    private var first: [String: Image] = [:]

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns whether the image is the one that the first call of the name has returned.
    func image(_ name: String) async -> Bool {
        if images[name] == nil {
            let image = await server.answer(Image())
            if !isMended || images[name] == nil { images[name] = image }
        }
        let image = images[name]!
        if first[name] == nil { first[name] = image }
        return first[name] === image
    }
}

private actor Session {
    private let server = AuthorizationServer()
    private let isMended: Bool
    private var refreshToken = 0
    private var last: Task<Int?, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func token() async -> Int? {
        let previous = isMended ? last : nil
        let task = Task {
            _ = await previous?.value
            guard let token = await server.refresh(refreshToken) else { return nil as Int? }
            refreshToken = token
            return token
        }
        last = task
        return await task.value
    }
}

private actor Waiters {
    private(set) var result: Int?
    private var all: [CheckedContinuation<Int, Never>] = []

    func set(_ value: Int) { result = value }

    func removeAll() -> [CheckedContinuation<Int, Never>] {
        defer { all = [] }
        return all
    }

    func fulfill(_ value: Int) {
        result = value
        for waiter in removeAll() { waiter.resume(returning: value) }
    }

    /// - Parameter checks: Whether a result is given to the waiter at once.
    func value(checks: Bool) async -> Int {
        if checks, let result { return result }
        return await withCheckedContinuation { all.append($0) }
    }
}

private actor Channel {
    private let waiters = Waiters()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func value() async -> Int {
        if !isMended, let result = await waiters.result { return result }
        return await waiters.value(checks: isMended)
    }

    func fulfill(_ value: Int) async {
        if isMended { return await waiters.fulfill(value) }
        await waiters.set(value)
        for waiter in await waiters.removeAll() { waiter.resume(returning: value) }
    }
}

private actor Tool {
    private let server = Server()
    private let isMended: Bool
    private var isReady = false
    private var download: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns the number of downloads.
    func prepare() async -> Int {
        if !isReady {
            if !isMended || download == nil { download = Task { _ = await server.answer("tool") } }
            await download!.value
            isReady = true
        }
        return await server.requests
    }
}

private actor TokenManager {
    private let server = Server()
    private let isMended: Bool
    private let lock = AsyncSemaphore(capacity: 1)
    private var isExpired = true

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns the number of renewals.
    func refresh() async -> Int? { try? await lock.withPermit { await renew() } }

    func refreshForWebView() async -> Int? { isMended ? await refresh() : await renew() }

    private func renew() async -> Int {
        if isExpired { _ = await server.answer("token") }
        isExpired = false
        return await server.requests
    }
}

private actor Connection {
    private let server = Server()
    private let isMended: Bool
    private(set) var result: String?

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns whether the request had not ended before.
    func end(_ text: String) async -> Bool {
        if result != nil { return false }
        if isMended { result = text }
        _ = await server.answer("log")
        result = result ?? text
        return true
    }
}

private actor Pages {
    private let server = Server()
    private let isMended: Bool
    private var count = 0
    private var last: Task<Int, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    /// Returns the number of the loaded page.
    func loadMore() async -> Int {
        let previous = isMended ? last : nil
        let task = Task {
            _ = await previous?.value
            let page = await server.answer(count)
            count = page + 1
            return page
        }
        last = task
        return await task.value
    }
}
