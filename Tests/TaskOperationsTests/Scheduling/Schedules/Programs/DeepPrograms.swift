// Faults that need several ordered steps. The depth is the least one of `priorities(depth:)` that can show the fault.

let deepPrograms = [
    PlantedFault(
        "a second sleeping receiver is not notified", "https://github.com/async-rs/async-std/pull/452",
        { isMended in
            let (channel, work) = (NotifyingChannel(isMended: isMended), Work())
            let senders = (0..<2).map { _ in Task { await channel.send() } }
            let receivers = (0..<2).map { _ in
                Task {
                    await work.run(2)
                    await channel.receive()
                }
            }
            for task in senders + receivers { await task.value }
        }),
    PlantedFault(
        "producers and consumers share a condition", "https://github.com/nim-lang/Nim/pull/26230",
        { isMended in
            let (buffer, work) = (BoundedBuffer(isMended: isMended), Work())
            let producers = (0..<2).map { _ in Task { await buffer.put() } }
            let consumers = (0..<2).map { _ in
                Task {
                    await work.run(2)
                    await buffer.take()
                }
            }
            for task in producers + consumers { await task.value }
        }),
    PlantedFault(
        "a node returns to the free list during a removal", "https://github.com/odin-lang/Odin/pull/6822",
        { isMended in
            let list = FreeList(isMended: isMended)
            async let one = list.pop()
            async let two = list.pop()
            async let other: Void = list.popAndPush()
            _ = await (one, two, other)
            let nodes = await [one, two, list.pop()]
            try require(Set(nodes).count == nodes.count)
        }),
    PlantedFault(
        "a push replaces the item that a thief takes", "https://github.com/ssbl/concurrent-deque/issues/2",
        { isMended in
            let deque = WorkDeque()
            for item in 1...2 { await deque.push(item) }
            async let pushed: Void = deque.push(3)
            async let stolen = deque.steal(readsFirst: isMended)
            await pushed
            var items = [await stolen]
            while let item = await deque.steal(readsFirst: true) { items.append(item) }
            try require(Set(items).count == items.count)
        }),
    PlantedFault(
        "eight transfers wait for each other in a circle", "https://github.com/layer-3/nitrolite/pull/830",
        { isMended in
            // Depth 3: each task locks its first account before any task locks its second one.
            let accounts = (0..<8).map { _ in AccountLock() }
            let transfers = accounts.indices.map { source in
                Task {
                    let pair = [source, (source + 1) % accounts.count]
                    let order = isMended ? pair.sorted() : pair
                    for account in order { await accounts[account].lock() }
                    for account in order { await accounts[account].unlock() }
                }
            }
            for transfer in transfers { await transfer.value }
        }),
    PlantedFault(
        "a ticket precedes its announcement", "https://github.com/OpenCoven/coven-cave/pull/5452",
        { isMended in
            let (lock, room) = (BakeryLock(), Room())
            let customers = (0..<2).map { own in
                Task {
                    await lock.lock(own, isMended: isMended)
                    await room.visit()
                    await lock.unlock(own)
                }
            }
            for customer in customers { await customer.value }
            try await require(room.mostAtOnce == 1)
        }),
    PlantedFault(
        "two arrivals reset a barrier", "https://github.com/ARM-software/synchronization-benchmarks/pull/62",
        { isMended in
            let (barrier, work) = (Barrier(parties: 2, isMended: isMended), Work())
            let workers = (0..<2).map { _ in
                Task {
                    for _ in 0..<2 {
                        await work.run(2)
                        await barrier.arrive()
                    }
                }
            }
            for worker in workers { await worker.value }
        }),
    PlantedFault(
        "Peterson's lock sets the turn before the flag", "https://github.com/SSAFY-CSStudy/OS/issues/14",
        { isMended in
            let (lock, room) = (PetersonLock(), Room())
            let workers = (0..<2).map { own in
                Task {
                    await lock.lock(own, isMended: isMended)
                    await room.visit()
                    await lock.unlock(own)
                }
            }
            for worker in workers { await worker.value }
            try await require(room.mostAtOnce == 1)
        }),
    PlantedFault(
        "a parser gives up after three partial reads", "https://github.com/heroku/vegur/pull/91",
        { isMended in
            let (pipe, work) = (Pipe(), Work())
            let peer = Task {
                for character in "1f4\r\n" {
                    await work.run(1)
                    await pipe.write(character)
                }
            }
            try await require(pipe.line(reads: isMended ? .max : 3) == "1f4\r\n")
            await peer.value
        }),
    PlantedFault(
        "a read fills the cache after its invalidation", "https://github.com/logto-io/logto/pull/9428",
        { isMended in
            let settings = CachedSettings(isMended: isMended)
            async let read: Void = settings.read()
            async let update: Void = settings.update()
            _ = await (read, update)
            let (cached, stored) = await (settings.cache.value, settings.store.value)
            try require(cached == nil || cached == stored)
        }),
    PlantedFault(
        "two writes restore the sequence number of a reader",
        "https://github.com/NethermindEth/nethermind/pull/10717",
        { isMended in
            let entry = SequencedEntry(numbers: isMended ? .max : 4)
            async let writes: Void = entry.write(1...2)
            let (key, value) = await entry.read()
            await writes
            try require(key == value)
        }),
    PlantedFault(
        "two workers fall asleep beside a job", "https://github.com/tokio-rs/tokio/pull/621",
        { isMended in
            let pool = WorkerThreads(isMended: isMended)
            let workers = (0..<2).map { _ in Task { await pool.work() } }
            await pool.submit(1)
            _ = await pool.result.value()
            await pool.sleepers.close()
            for worker in workers { await worker.value }
        }),
    PlantedFault(
        "an invalidation forgets a new key of its tag", "https://github.com/spiritix/lada-cache/pull/124",
        { isMended in
            let cache = TaggedCache(isMended: isMended)
            await cache.set("a")
            async let one: Void = cache.set("b")
            async let two: Void = cache.set("c")
            await cache.invalidate()
            _ = await (one, two)
            await cache.invalidate()
            try await require(cache.entries.value.isEmpty)
        }),
    PlantedFault(
        "a limit of one admits four requests at once", "https://github.com/Kinchilla/venndra/issues/12",
        { isMended in
            let limit = RequestLimit(isMended: isMended)
            let requests = (0..<4).map { _ in Task { await limit.admit() } }
            var admitted = 0
            for request in requests where await request.value { admitted += 1 }
            // The limit is a soft one.
            try require(admitted < 4)
        }),
    PlantedFault(
        "a writer gives up after three conflicts", "https://github.com/SBortz/boundlessdb/issues/77",
        { isMended in
            let record = VersionedRecord()
            let writers = (0..<4).map { _ in Task { await record.increment(attempts: isMended ? .max : 3) } }
            for writer in writers { await writer.value }
            try await require(record.value == 4)
        }),
]

private actor Register<Value: Sendable> {
    private(set) var value: Value

    init(_ value: Value) { self.value = value }

    func set(_ value: Value) { self.value = value }

    @discardableResult
    func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result { change(&value) }
}

/// The work of a task before its critical steps. It visits two actors in turn, so other tasks can run in between.
private struct Work: Sendable {
    private let servers = [Server(), Server()]

    func run(_ visits: Int) async { for visit in 0..<visits { _ = await servers[visit % 2].answer(visit) } }
}

/// Depth 2: both receivers sleep, and both sends precede the end of the first sleep.
private actor NotifyingChannel {
    private let isMended: Bool
    private var messages = 0
    private var isNotified = false
    private var sleepers: [CheckedContinuation<Void, Never>] = []

    init(isMended: Bool) { self.isMended = isMended }

    func send() {
        messages += 1
        if sleepers.isEmpty || isNotified && !isMended { return }
        isNotified = true
        sleepers.removeFirst().resume()
    }

    func receive() async {
        while messages == 0 {
            await withCheckedContinuation { sleepers.append($0) }
            isNotified = false
        }
        messages -= 1
    }
}

/// Depth 2: a producer and a consumer wait at the same time, and a signal resumes the wrong one.
private actor BoundedBuffer {
    private let isMended: Bool
    private var isFull = false
    /// The waiting tasks: the producers separately, if the buffer is mended.
    private var waiters: [Bool: [CheckedContinuation<Void, Never>]] = [:]

    init(isMended: Bool) { self.isMended = isMended }

    func put() async { await change(to: true) }
    func take() async { await change(to: false) }

    private func change(to isFull: Bool) async {
        while self.isFull == isFull {
            await withCheckedContinuation { waiters[isFull && isMended, default: []].append($0) }
        }
        self.isFull = isFull
        let key = !isFull && isMended
        if waiters[key]?.isEmpty == false { waiters[key]!.removeFirst().resume() }
    }
}

/// Depth 4: while a removal has read the head and its link, the second task removes the head, the third one removes the next
/// node, and the second one returns the head.
private actor FreeList {
    private let server = Server()
    private let isMended: Bool
    private var head = 0
    private var links = [1, 2, 3, 4]
    private var version = 0

    init(isMended: Bool) { self.isMended = isMended }

    func pop() async -> Int {
        while true {
            let (node, next, old) = (head, links[head], version)
            _ = await server.answer(node)
            if head != node || isMended && version != old { continue }
            (head, version) = (next, version + 1)
            return node
        }
    }

    func popAndPush() async {
        let node = await pop()
        _ = await server.answer("used")
        links[node] = head
        (head, version) = (node, version + 1)
    }
}

/// Depth 2: the owner pushes between the thief's claim and its read.
private struct WorkDeque: Sendable {
    private let work = Work()
    private let range = Register(0..<0)
    private let slots = Register([0, 0])

    /// Adds an item if there is room.
    func push(_ item: Int) async {
        let old = await range.value
        guard old.count < 2 else { return }
        await work.run(4)
        await slots.update { $0[old.upperBound % 2] = item }
        await range.update { $0 = $0.lowerBound..<old.upperBound + 1 }
    }

    /// Takes the first item. There is one thief at a time.
    func steal(readsFirst: Bool) async -> Int? {
        let first = await range.value
        if first.isEmpty { return nil }
        let early = readsFirst ? await slots.value[first.lowerBound % 2] : nil
        await range.update { $0 = $0.lowerBound + 1..<$0.upperBound }
        if let early { return early }
        return await slots.value[first.lowerBound % 2]
    }
}

private actor AccountLock {
    private var isLocked = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func lock() async {
        if !isLocked { return isLocked = true }
        await withCheckedContinuation { waiters.append($0) }
    }

    func unlock() { if waiters.isEmpty { isLocked = false } else { waiters.removeFirst().resume() } }
}

/// Depth 3: one task reads the ticket of the other task before that is set, and sets its own ticket while the other task has
/// the lock.
private struct BakeryLock: Sendable {
    private let choosing = [Register(false), Register(false)]
    private let tickets = [Register(0), Register(0)]
    private let work = Work()

    func lock(_ own: Int, isMended: Bool) async {
        let other = 1 - own
        await work.run(2)
        if isMended { await choosing[own].set(true) }
        let ticket = await tickets[other].value + 1
        await tickets[own].set(ticket)
        if isMended { await choosing[own].set(false) }
        while await choosing[other].value { await Task.yield() }
        while case let first = await tickets[other].value, first > 0, (first, other) < (ticket, own) {
            await Task.yield()
        }
    }

    func unlock(_ own: Int) async { await tickets[own].set(0) }
}

/// Depth 3: both tasks count before either looks, and one task arrives again before the other one resets the count.
private actor Barrier {
    private let server = Server()
    private let parties: Int
    private let isMended: Bool
    private var count = 0
    private var phase = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(parties: Int, isMended: Bool) { (self.parties, self.isMended) = (parties, isMended) }

    func arrive() async {
        count += 1
        let (place, own) = (count, phase)
        _ = await server.answer("arrived")
        if (isMended ? place : count) == parties {
            _ = await server.answer("complete")
            reset()
        } else if phase == own {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    private func reset() {
        count = 0
        phase += 1
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// Depth 3: both turns precede both flags, and one task looks before the other one sets its flag.
private struct PetersonLock: Sendable {
    private let flags = [Register(false), Register(false)]
    private let turn = Register(0)

    func lock(_ own: Int, isMended: Bool) async {
        let other = 1 - own
        if isMended { await flags[own].set(true) }
        await turn.set(other)
        if !isMended { await flags[own].set(true) }
        while await flags[other].value, await turn.value == other { await Task.yield() }
    }

    func unlock(_ own: Int) async { await flags[own].set(false) }
}

private actor Room {
    private var visitors = 0
    private(set) var mostAtOnce = 0

    func visit() async {
        visitors += 1
        mostAtOnce = max(mostAtOnce, visitors)
        await Task.yield()
        visitors -= 1
    }
}

/// Depth 4 to 6: the reader reads each of the first three characters before the next one arrives.
private actor Pipe {
    private let work = Work()
    private var text = ""

    func write(_ character: Character) { text.append(character) }

    /// Reads until the end of a line, or until a number of reads with a result.
    func line(reads: Int) async -> String {
        var (line, count) = ("", 0)
        while !line.hasSuffix("\r\n"), count < reads {
            if !text.isEmpty { count += 1 }
            line += text
            text = ""
            await work.run(2)
            await Task.yield()
        }
        return line
    }
}

/// Depth 4: the first update runs between the two reads of the store, and the second one before the second fill.
private struct CachedSettings: Sendable {
    let store = Register("old")
    let cache = Register<String?>(nil)
    private let generation = Register(0)
    private let work = Work()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func read() async {
        let own = await generation.value
        let value = await store.value
        if isMended { return await fill(value, own) }
        await cache.set(value)
        let newer = await store.value
        if newer != value { await cache.set(newer) }
    }

    func update() async {
        for value in ["new", "newer"] {
            await work.run(2)
            await store.set(value)
            await generation.update { $0 += 1 }
            await cache.set(nil)
        }
    }

    /// Fills the cache, unless an invalidation follows the read.
    private func fill(_ value: String, _ own: Int) async {
        await cache.set(value)
        if await generation.value != own { await cache.set(nil) }
    }
}

/// Depth 2: the reader is between its read of the key and that of the value during both writes.
private struct SequencedEntry: Sendable {
    private let sequence = Register(0)
    private let key = Register(0)
    private let value = Register(0)
    /// The number of different sequence numbers.
    private let numbers: Int

    init(numbers: Int) { self.numbers = numbers }

    func write(_ items: ClosedRange<Int>) async {
        for item in items {
            await advance()
            await key.set(item)
            await value.set(item)
            await advance()
        }
    }

    private func advance() async { await sequence.update { [numbers] in $0 = ($0 + 1) % numbers } }

    func read() async -> (Int, Int) {
        while true {
            let start = await sequence.value
            let entry = await (key.value, value.value)
            if start % 2 == 0, await sequence.value == start { return entry }
            await Task.yield()
        }
    }
}

/// Depth 3: the job arrives after both workers have looked for one, and before either sleeps.
private struct WorkerThreads: Sendable {
    let result = Reply()
    let sleepers = Sleepers()
    private let jobs = JobList()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func submit(_ job: Int) async {
        await jobs.add(job)
        await sleepers.wakeOne()
    }

    func work() async {
        repeat {
            let ticket = isMended ? await sleepers.tickets : nil
            if let job = await jobs.next() { return await result.resume(job) }
            await sleepers.sleep(ticket)
        } while await !sleepers.isClosed
    }
}

private actor JobList {
    private var jobs: [Int] = []

    func add(_ job: Int) { jobs.append(job) }
    func next() -> Int? { jobs.popLast() }
}

private actor Sleepers {
    private(set) var tickets = 0
    private(set) var isClosed = false
    private var sleepers: [CheckedContinuation<Void, Never>] = []

    /// Sleeps, unless a wake-up followed the ticket.
    func sleep(_ ticket: Int?) async {
        if isClosed || ticket.map({ $0 != tickets }) ?? false { return }
        await withCheckedContinuation { sleepers.append($0) }
    }

    func wakeOne() {
        tickets += 1
        if !sleepers.isEmpty { sleepers.removeFirst().resume() }
    }

    func close() {
        isClosed = true
        for sleeper in sleepers { sleeper.resume() }
        sleepers = []
    }
}

/// Depth 4: in each attempt, a key is added between the read of the tag and its removal.
private struct TaggedCache: Sendable {
    let entries = Register<Set<String>>([])
    private let tag = Register<Set<String>>([])
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func set(_ key: String) async {
        await entries.update { $0.insert(key) }
        await tag.update { $0.insert(key) }
    }

    func invalidate() async {
        for _ in 0..<2 {
            let keys = await tag.value
            await entries.update { $0.subtract(keys) }
            if await tag.update({ $0.remove(keys, always: isMended) }) { return }
        }
        await tag.set([])
    }
}

extension Set<String> {
    /// Removes keys if there are no others. Returns whether it did.
    ///
    /// - Parameter always: Whether it removes them also if there are others.
    fileprivate mutating func remove(_ keys: Self, always: Bool) -> Bool {
        guard always || self == keys else { return false }
        subtract(keys)
        return true
    }
}

/// Depth 4: all requests read the count before the first one writes it.
private actor RequestLimit {
    private let server = Server()
    private let work = Work()
    private let isMended: Bool
    private var count = 0

    init(isMended: Bool) { self.isMended = isMended }

    func admit() async -> Bool {
        await work.run(6)
        let old = count
        if !isMended { _ = await server.answer("logged") }
        if old > 0 { return false }
        count = old + 1
        return true
    }
}

/// Depth 7: in each attempt, another task writes between the read and the write.
private actor VersionedRecord {
    private(set) var value = 0
    private let server = Server()
    private let work = Work()

    func increment(attempts: Int) async {
        await work.run(6)
        for _ in 0..<attempts {
            let old = value
            _ = await server.answer("computed")
            if value == old { return value = old + 1 }
        }
    }
}
