// State of the main actor that several tasks update.

let screenPrograms = [
    PlantedFault(
        "the answer of an older search is shown last", "https://github.com/satsdisco/JellyAmp/issues/41",
        { isMended in
            let screen = await SearchScreen(isMended: isMended)
            let one = Task { await screen.search("a") }
            await Task.yield()
            let two = Task { await screen.search("ab") }
            await one.value
            await two.value
            let (query, shown) = await (screen.query, screen.shown)
            try require(query == shown)
        }),
    PlantedFault(
        "a cancelled reload still shows its result", "https://github.com/vultisig/vultisig-ios/pull/4813",
        { isMended in
            let picker = await Picker(isMended: isMended)
            let one = await picker.select("one")
            let two = await picker.select("two")
            await one.value
            await two.value
            try await require(picker.coins == "two")
        }),
    PlantedFault(
        "a page is loaded twice", "https://github.com/algolia/instantsearch-core-swift/pull/85",
        { isMended in
            let list = await List(isMended: isMended)
            async let one: Void = list.loadMore()
            async let two: Void = list.loadMore()
            _ = await (one, two)
            let pages = await list.pages
            try require(Set(pages).count == pages.count)
        }),
    PlantedFault(
        "the status is old when connect returns", "https://github.com/supabase/supabase-swift/pull/855",
        { isMended in
            let client = await Client(isMended: isMended)
            await client.connect()
            try await require(client.status == "connected")
        }),
    PlantedFault(
        "a superseded save clears the pending one", "https://github.com/crmitchelmore/justspeaktoit/issues/870",
        { isMended in
            let history = await History(isMended: isMended)
            await history.change("a")
            try? await Task.sleep(for: .milliseconds(2))
            await history.change("b")
            try? await Task.sleep(for: .milliseconds(20))
            try await require(!history.hasClearedOther)
        }),
    PlantedFault(
        "a synchronization recreates state after its removal",
        "https://github.com/tigerduck-app/tigerduck-app/pull/100",
        { isMended in
            let push = await Push(isMended: isMended)
            await push.schedule()
            await Task.yield()
            await push.unregister()
            try? await Task.sleep(for: .milliseconds(20))
            try await require(!push.isRegistered)
        }),
    PlantedFault(
        "a test trusts the order of a task and a completion", "https://github.com/onevcat/Kingfisher/pull/2456",
        { isMended in
            let download = Download()
            let flag = await download.start()
            if isMended { await flag.value }
            await download.complete()
            try await require(download.order == ["started", "completed"])
        }),
]

@MainActor private final class SearchScreen {
    private let server = Server()
    private let isMended: Bool
    private(set) var query = ""
    private(set) var shown = ""

    init(isMended: Bool) { self.isMended = isMended }

    func search(_ text: String) async {
        query = text
        let answer = await server.answer(text)
        if !isMended || query == text { shown = answer }
    }
}

@MainActor private final class Picker {
    private let server = Server()
    private let isMended: Bool
    private(set) var coins = ""
    private var reload: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func select(_ chain: String) -> Task<Void, Never> {
        reload?.cancel()
        let task = Task {
            let coins = await server.answer(chain)
            if isMended, Task.isCancelled { return }
            self.coins = coins
        }
        reload = task
        return task
    }
}

@MainActor private final class List {
    private let server = Server()
    private let isMended: Bool
    private(set) var pages: [Int] = []
    private var isLoading = false

    init(isMended: Bool) { self.isMended = isMended }

    func loadMore() async {
        if isLoading { return }
        if isMended { isLoading = true }
        let hasMore = await server.answer(true)
        isLoading = true
        if hasMore { await pages.append(server.answer(pages.count)) }
        isLoading = false
    }
}

@MainActor private final class Client {
    private let isMended: Bool
    private(set) var status = "connecting"
    private let (changes, continuation) = AsyncStream.makeStream(of: String.self)

    init(isMended: Bool) {
        self.isMended = isMended
        Task { for await status in changes { self.status = status } }
    }

    func connect() async {
        await Task.yield()
        continuation.yield("connected")
        continuation.finish()
        if isMended { status = "connected" }
    }
}

@MainActor private final class History {
    private let isMended: Bool
    private(set) var hasClearedOther = false
    private var generation = 0
    private var pending: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func change(_ text: String) {
        pending?.cancel()
        generation += 1
        let own = generation
        pending = Task {
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
            if isMended, own != generation { return }
            if own != generation { hasClearedOther = true }
            pending = nil
        }
    }
}

@MainActor private final class Push {
    private let server = Server()
    private let isMended: Bool
    private(set) var isRegistered = true
    private var pending: Task<Void, Never>?

    init(isMended: Bool) { self.isMended = isMended }

    func schedule() {
        pending = Task {
            if Task.isCancelled { return }
            _ = await server.answer("sync")
            isRegistered = true
        }
    }

    func unregister() async {
        pending?.cancel()
        if isMended { await pending?.value }
        isRegistered = false
    }
}

private actor Download {
    private(set) var order: [String] = []

    func start() -> Task<Void, Never> { Task.detached { await self.note("started") } }

    func complete() { order.append("completed") }

    private func note(_ event: String) { order.append(event) }
}
