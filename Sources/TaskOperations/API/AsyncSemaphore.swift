import Synchronization

/// A counting semaphore for tasks. It limits the number of tasks in a section without blocking threads.
///
/// Waiting tasks receive permits in the order of their priority. Tasks of the same priority receive permits in the
/// order of their arrival. Escalating a waiting task may move the task forward.
///
/// With *n* waiting tasks, each call takes at most O(log *n*) time, and usually O(1) time.
///
/// ```swift
/// let connections = AsyncSemaphore(capacity: 6)
/// let page = try await connections.withPermit { try await load(url) }
/// ```
///
/// A semaphore can also limit each of several keys, and share its permits fairly among them:
///
/// ```swift
/// let hosts = AsyncSemaphore(capacity: 16, perKey: 2)
/// let page = try await hosts.withPermit(key: url.host) { try await load(url) }
/// ```
///
/// Among waiting tasks of one priority, each key receives the same number of permits. The method `setShare(_:for:)`
/// gives a key more. The permits that a key does not use go to the other keys. A key uses memory only while a task has
/// or awaits its permits, while tokens of its rate are used, while it is paused, and while it has its own capacity or a
/// share other than 1.
///
/// A semaphore can also limit the number of times that permits are given, per unit of time:
///
/// ```swift
/// let interface = AsyncSemaphore(capacity: 16, rate: .perSecond(100), ratePerKey: .perSecond(20))
/// ```
///
/// A rate counts the cost of each operation, such as its tokens of a language model: see
/// `OperationOptions.limit(_:key:weight:cost:)` and `settle(_:)`.
public final class AsyncSemaphore: Sendable {
    typealias State = LimitState<SemaphoreWaiter>

    struct Storage: Sendable {
        var state: State
        /// The largest capacity that the semaphore has had.
        var peakCapacity: Int
        /// The largest capacity for each key that the semaphore has had.
        var peakCapacityPerKey: Int
        var keys = LimitKeys()
    }

    /// A number that identifies the semaphore. The limits of an operation are locked in the order of these numbers.
    let number = Rank.next()
    /// What could receive released permits: see `isUndisputed(by:)`. Readers need no lock. The value is stored beside
    /// the lock, and therefore usually in the same line of a cache.
    private let contenders = Atomic(Contenders.none.rawValue)
    let storage: Lock<Storage>
    /// The node for the permits of the semaphore in the wait graph.
    let permit = PermitNode(lending: nil)
    private let clock = RareValue<QueueClock>()
    private let makeClock: (@Sendable () -> QueueClock)?
    /// Whether the number of queued operations is bounded.
    private let isRoomBounded = Atomic(false)

    /// The name of the semaphore in messages; nil if it has no name.
    public let name: String?

    /// Creates a semaphore whose permits are all free.
    ///
    /// - Parameters:
    ///   - capacity: The number of permits; not negative. If it is 0, all tasks wait until the capacity is raised.
    ///   - perKey: The number of permits for each key; not negative. Nil if keys only share the permits fairly.
    ///   - rate: The rate at which permits are given; nil for no rate. See `rate`.
    ///   - ratePerKey: The rate at which permits of each key are given; nil for no rate.
    ///   - clock: The clock that measures the rates.
    ///   - name: The name of the semaphore in messages, such as the messages of TaskOperationsDiagnosis.
    public init(
        capacity: Int, perKey: Int? = nil, rate: OperationRate? = nil, ratePerKey: OperationRate? = nil,
        clock: any Clock<Duration> = ContinuousClock(), name: String? = nil
    ) {
        self.name = name
        Self.checkCapacity(capacity, of: Self.label(name))
        let perKey = Self.checkedCapacityPerKey(perKey, of: name)
        makeClock = QueueClock.maker(clock)
        storage = Lock(
            Storage(
                state: State(capacity: capacity, perKey: perKey), peakCapacity: capacity, peakCapacityPerKey: perKey))
        if let rate { self.rate = rate }
        if let ratePerKey { self.ratePerKey = ratePerKey }
    }

    /// The number of all permits, both taken and free.
    ///
    /// Raising the capacity resumes waiting tasks at once. Lowering the capacity revokes no permit. If a task needs
    /// more permits than the lowered capacity, the task receives them when no other permit is taken. With a capacity of
    /// 0, all tasks and operations wait, and so do further attempts of operations that have this limit.
    public var capacity: Int {
        get { storage.withLock { $0.state.permits.capacity } }
        set {
            Self.checkCapacity(newValue, of: label)
            apply { storage in
                storage.state.setCapacity(newValue)
                storage.peakCapacity = max(storage.peakCapacity, newValue)
            }
        }
    }

    /// The number of permits for each key; nil if keys only share the permits fairly.
    ///
    /// A change has the same effect as a change of the capacity. It takes O(*n*) time with *n* keys in use.
    public var capacityPerKey: Int? {
        get {
            let capacity = storage.withLock { $0.state.capacityPerKey }
            return capacity == .max ? nil : capacity
        }
        set {
            let capacity = Self.checkedCapacityPerKey(newValue, of: name)
            apply { storage in
                storage.state.setCapacityPerKey(capacity)
                storage.peakCapacityPerKey = max(storage.peakCapacityPerKey, capacity)
            }
        }
    }

    /// The rate at which permits are given; nil for no rate.
    ///
    /// Each start or attempt of an operation uses as many tokens as it costs, and each acquisition uses one token,
    /// regardless of the weight. Without its tokens, it waits in line. Without a rate per key, a lack of tokens delays all
    /// tasks and operations alike. The rate can be changed at any time. Used tokens remain used.
    ///
    /// An array literal combines several rates: `[.perMinute(90_000, burst: 9_000), .perDay(10_000, burst: 5_000)]`. Each
    /// rate of a changed combination takes over the used tokens of the rate at the same position.
    public var rate: OperationRate? {
        get { storage.withLock { $0.state.rate } }
        set { setRate { $0.setRate(newValue) } }
    }

    /// The rate at which permits of each key are given; nil for no rate.
    ///
    /// A lack of tokens of a key delays only the tasks and operations of this key. A change takes O(*n*) time with *n*
    /// keys in use.
    public var ratePerKey: OperationRate? {
        get { storage.withLock { $0.state.ratePerKey } }
        set { setRate { $0.setRatePerKey(newValue) } }
    }

    /// Whether the semaphore has, or once had, a rate or a pause.
    var hasClock: Bool { !clock.isEmpty }

    private func setRate(_ change: (inout State) -> Void) {
        prepareClock()
        apply { change(&$0.state) }
    }

    /// Makes the clock, if there is none. Call it before the state gets a rate or a pause.
    func prepareClock() { QueueClock.prepare(clock, makeClock) }

    /// The maximum number of operations that need permits of the semaphore and have not started, in addition to one
    /// operation for each free permit; nil for no bound. With 0, an operation of weight 1 waits only for a permit of its
    /// key, for a token of a rate, or for its turn behind operations of a larger weight.
    ///
    /// A further operation ends with `TaskOperationError.limitFull` when it is added to a queue or started. In a batch, only
    /// the operations without room end. Operations that execute do not count, and neither do operations that were added
    /// while the semaphore had no bound, or tasks that await permits. Operations that wait for room in their queue count.
    /// An operation that has its permits counts until its body begins. Each operation counts as 1, regardless of its
    /// weight. Lowering the bound ends no operation.
    ///
    /// The bound must not be negative.
    public var maxQueuedOperationCount: Int? {
        get { queuedLimit(\.queuedLimit) }
        set { setQueuedLimit(newValue, \.queuedLimit) }
    }

    /// The maximum number of operations of each key that have not started, in addition to one operation for each permit
    /// that is free in total and for the key; nil for no bound. See `maxQueuedOperationCount`.
    ///
    /// ```swift
    /// let workers = AsyncSemaphore(capacity: 8, name: "workers")
    /// workers.maxQueuedOperationCountPerKey = 100
    /// jobs.addOperation(.limit(workers, key: tenant)) { … }  // fails if 100 operations of the tenant wait
    /// ```
    public var maxQueuedOperationCountPerKey: Int? {
        get { queuedLimit(\.queuedLimitPerKey) }
        set { setQueuedLimit(newValue, \.queuedLimitPerKey) }
    }

    private func queuedLimit(_ property: KeyPath<State, Int>) -> Int? {
        let limit = storage.withLock { $0.state[keyPath: property] }
        return limit == .max ? nil : limit
    }

    private func setQueuedLimit(_ limit: Int?, _ property: WritableKeyPath<State, Int>) {
        if let limit { require(limit >= 0, "the number of queued operations is \(limit); it must not be negative.") }
        storage.withLock { storage in
            storage.state[keyPath: property] = limit ?? .max
            isRoomBounded.store(
                storage.state.queuedLimit < .max || storage.state.queuedLimitPerKey < .max,
                ordering: .sequentiallyConsistent)
        }
    }

    /// Whether the number of queued operations is bounded.
    var boundsQueuedOperations: Bool { isRoomBounded.load(ordering: .sequentiallyConsistent) }

    /// Whether nothing but a claim waits for permits, and one of its operations can leave its permits to another one.
    /// Needs no lock: a caller that reads while the line is served acts before that.
    func isUndisputed(by claim: LimitClaim) -> Bool {
        let present = Contenders(rawValue: contenders.load(ordering: .sequentiallyConsistent))
        return present == .none || present == .only(claim)
    }

    fileprivate func setContenders(_ new: Contenders) {
        // Not written if it does not change. While operations leave their permits to others, each processor therefore
        // keeps a copy.
        if contenders.load(ordering: .sequentiallyConsistent) == new.rawValue { return }
        contenders.store(new.rawValue, ordering: .sequentiallyConsistent)
    }

    /// What could receive released permits.
    fileprivate struct Contenders: Equatable {
        /// 0, 1, or the address of a claim, which is only compared.
        let rawValue: UInt

        /// Several entries wait, or a task, or the state is not steady.
        static var several: Self { Self(rawValue: 0) }

        static var none: Self { Self(rawValue: 1) }

        static func only(_ claim: LimitClaim) -> Self { Self(rawValue: UInt(bitPattern: ObjectIdentifier(claim))) }
    }

    /// The number of free permits.
    public var available: Int { storage.withLock { $0.state.permits.available } }

    /// The number of waiting tasks, without the operations that wait.
    public var waitingCount: Int { storage.withLock { $0.state.waitingCount } }

    private static func checkCapacity(_ capacity: Int, of holder: @autoclosure () -> String) {
        require(
            capacity >= 0,
            "The capacity of \(holder()) is \(capacity); it must not be negative. With 0, its tasks and operations wait."
        )
    }

    private static func checkedCapacityPerKey(_ capacity: Int?, of name: String?) -> Int {
        if let capacity { checkCapacity(capacity, of: "each key of \(label(name))") }
        return capacity ?? .max
    }
}

// MARK: - Keys

extension AsyncSemaphore {
    /// Sets the share of a key. The default is 1.
    ///
    /// While tasks of several keys wait, the permits that each key receives are proportional to its share. With shares
    /// of 3 and 1, one key receives three permits for each permit of the other.
    ///
    /// The semaphore keeps a share until the share is 1 again. A share that is not 1 uses memory also while no task
    /// uses the key.
    ///
    /// - Parameters:
    ///   - share: The share; from 1 to 65,536.
    ///   - key: The key. Keys of different types are different. Nil has no effect.
    public func setShare(_ share: Int, for key: (some Hashable & Sendable)?) {
        require((1...65_536).contains(share), "share is \(share); it must be from 1 to 65,536.")
        if let key = interned(key) { set(key) { $0.state.setShare(share, of: $1) } }
    }

    /// Sets the number of permits for one key, instead of `capacityPerKey`.
    ///
    /// A capacity of 0 suspends the key: its tasks and operations wait. They continue when the capacity is changed.
    ///
    /// The semaphore keeps the capacity until it is nil again. Such a key uses memory also while no task uses it.
    ///
    /// - Parameters:
    ///   - capacity: The number of permits; not negative. Nil for the capacity of every key.
    ///   - key: The key. Keys of different types are different. Nil has no effect.
    public func setCapacity(_ capacity: Int?, for key: (some Hashable & Sendable)?) {
        if let capacity { Self.checkCapacity(capacity, of: "a key of \(label)") }
        guard let key = interned(key) else { return }
        set(key) { storage, number in
            storage.state.setCapacity(capacity, of: number)
            storage.peakCapacityPerKey = max(storage.peakCapacityPerKey, capacity ?? 0)
        }
    }

    /// Changes a setting of a key. Keeps the key while it has settings other than the defaults.
    private func set(_ key: LimitKey, _ change: (inout Storage, _ number: Int) -> Void) {
        let former = apply { storage in
            change(&storage, key.number)
            return storage.keys.setKept(storage.state.hasSettings(key.number), key, of: self)
        }
        // Released after unlocking.
        extendLifetime(former)
    }

    /// The number of permits that are taken for a key; 0 for nil.
    public func takenCount(for key: (some Hashable & Sendable)?) -> Int {
        guard let key = interned(key) else { return 0 }
        defer { extendLifetime(key) }
        return storage.withLock { $0.state.takenCount(of: key.number) }
    }

    /// The number of tasks that wait for permits of a key, without the operations that wait; 0 for nil. Takes linear time
    /// in the number of waiting tasks.
    public func waitingCount(for key: (some Hashable & Sendable)?) -> Int {
        guard let key = interned(key) else { return 0 }
        defer { extendLifetime(key) }
        return storage.withLock { $0.state.waitingCount(of: key.number) }
    }

    /// Waits for permits of a key, and runs a body with them. Releases the permits when the body returns or throws.
    ///
    /// - Parameters:
    ///   - key: The key. Its permits also count as permits of the semaphore. Keys of different types are different. Nil
    ///     means no key.
    ///   - weight: The number of permits; at least 1, and at most the largest capacity and the largest capacity for each
    ///     key that the semaphore has had.
    ///   - priority: The priority of the wait; nil for the priority of the calling task.
    ///   - timeout: The longest duration of the wait for the permits; nil for no limit.
    ///   - clock: The clock that measures the wait.
    ///   - body: The work that needs the permits.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws. `TaskOperationError.timedOut` if the time is over before the task
    ///   receives the permits. `CancellationError` if the task is cancelled before it receives the permits.
    ///   `TaskOperationError.weightExceedsCapacity` if the semaphore has never had as many permits.
    public func withPermit<Value>(
        key: (some Hashable & Sendable)?, weight: Int = 1, priority: TaskPriority? = nil, timeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: () async throws -> Value
    ) async throws -> Value {
        let key = interned(key)
        try await acquire(weight, key, priority, timeout, clock)
        defer { release(weight, for: key) }
        return try await body()
    }
}

// MARK: - Acquiring

extension AsyncSemaphore {
    /// Waits for permits and takes them. Tasks that are ahead of the caller in the line receive their permits first.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest capacity that the semaphore has had.
    ///   - priority: The priority of the wait; nil for the priority of the calling task.
    ///   - timeout: The longest duration of the wait; nil for no limit.
    ///   - clock: The clock that measures the wait.
    /// - Throws: `TaskOperationError.timedOut` if the time is over before the task receives the permits.
    ///   `CancellationError` if the task is cancelled before it receives the permits.
    ///   `TaskOperationError.weightExceedsCapacity` if the semaphore has never had as many permits. In all cases, the
    ///   task takes no permit.
    public func acquire(
        weight: Int = 1, priority: TaskPriority? = nil, timeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        try await acquire(weight, nil, priority, timeout, clock)
    }

    /// Takes permits if enough permits are free and no task or operation waits for permits.
    ///
    /// - Parameter weight: The number of permits; at least 1.
    /// - Returns: True if the permits were taken; otherwise false.
    public func tryAcquire(weight: Int = 1) -> Bool {
        checkWeight(weight)
        let (isTaken, claims) = withStorage { ($0.state.tryAcquire(weight), $0.state.noteTask()) }
        stopKeeping(claims)
        return isTaken
    }

    /// Called when the first task calls the semaphore, with the claims in line. See `ClaimState`.
    private func stopKeeping(_ claims: [SemaphoreWaiter]) {
        for case .claim(let claim) in claims { claim.stopKeeping() }
    }

    private func acquire(
        _ weight: Int, _ key: LimitKey?, _ priority: TaskPriority?, _ timeout: Duration?, _ clock: any Clock<Duration>
    ) async throws {
        try Task.checkCancellation()
        if try acquireAtOnce(weight, key, priority) { return }
        let wait = SemaphoreWait(weight, key, priority)
        guard let timeout else {
            if await suspend(wait) { return }
            throw CancellationError()
        }
        let isAcquired = await withTimeoutHandler(timeout, clock: clock) {
            await suspend(wait)
        } onTimeout: { [self] in
            wait.isTimeUp.set()
            leave(wait)
        }
        if isAcquired { return }
        if !wait.isTimeUp.isSet { throw CancellationError() }
        throw TaskOperationError.timedOut(.wait(for: "permits of \(Self.label(name))"), after: timeout)
    }

    /// Takes permits as `tryAcquire` does.
    ///
    /// - Throws: `TaskOperationError.weightExceedsCapacity` if no wait could obtain the permits.
    private func acquireAtOnce(
        _ weight: Int, _ key: LimitKey?, _ priority: TaskPriority?
    ) throws(TaskOperationError) -> Bool {
        checkWeight(weight)
        // Only the tags of keys need the level.
        let level = key == nil ? .medium : PriorityLevel(priority ?? Task.currentPriority)
        let (isTaken, claims) = withStorage { storage in
            (storage.state.tryAcquire(weight, for: key?.number, level: level), storage.state.noteTask())
        }
        stopKeeping(claims)
        if !isTaken, let error = excess(weight, hasKey: key != nil) { throw error }
        return isTaken
    }

    /// The error of a caller that needs more permits than the semaphore has ever had; nil if its wait can end.
    ///
    /// - Parameter hasKey: Whether the permits are those of a key.
    func excess(_ weight: Int, hasKey: Bool) -> TaskOperationError? {
        if weight == 1 { return nil }
        let peak = storage.withLock { hasKey ? min($0.peakCapacity, $0.peakCapacityPerKey) : $0.peakCapacity }
        if weight <= peak || peak == 0 { return nil }
        return .weightExceedsCapacity(semaphoreName: name, weight: weight, capacity: peak)
    }

    /// Releases permits, and resumes waiting tasks for which enough permits are then free.
    ///
    /// - Parameter weight: The number of permits; at least 1, and at most the number of taken permits.
    public func release(weight: Int = 1) {
        release(weight, for: nil)
    }

    private func release(_ weight: Int, for key: LimitKey?) {
        checkWeight(weight)
        apply { storage in
            let taken = storage.state.permits.taken
            require(
                weight <= taken,
                "\(label) was to take back \(weight) of \(taken) taken permits. Release each permit once, or use withPermit."
            )
            storage.state.release(weight, for: key?.number)
            if let key { storage.keepForTokens(key) }
        }
        extendLifetime(key)
    }

    /// Waits for permits, and runs a body with them. Releases the permits when the body returns or throws.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest capacity that the semaphore has had.
    ///   - priority: The priority of the wait; nil for the priority of the calling task.
    ///   - timeout: The longest duration of the wait for the permits; nil for no limit.
    ///   - clock: The clock that measures the wait.
    ///   - body: The work that needs the permits.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws. `TaskOperationError.timedOut` if the time is over before the task
    ///   receives the permits. `CancellationError` if the task is cancelled before it receives the permits.
    public func withPermit<Value>(
        weight: Int = 1, priority: TaskPriority? = nil, timeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire(weight: weight, priority: priority, timeout: timeout, clock: clock)
        defer { release(weight: weight) }
        return try await body()
    }

    private func checkWeight(_ weight: Int) {
        require(weight > 0, "weight is \(weight); it must be at least 1.")
    }
}

extension AsyncSemaphore {
    /// The name of the semaphore in messages.
    var label: String { Self.label(name) }

    static func label(_ name: String?) -> String { name.map { "semaphore \"\($0)\"" } ?? "a semaphore" }

    /// The name of the semaphore, and the use of its permits.
    func waitDescription(cost: Int) -> String {
        let (permits, shortage) = storage.withLock { ($0.state.permits, $0.state.shortage(for: nil, cost: cost)) }
        return Self.use(of: label, permits.taken, permits.capacity, shortage)
    }

    static func use(
        of holder: String, _ taken: Int, _ capacity: Int, isTotal: Bool = false, _ shortage: String
    ) -> String {
        "\(holder), \(taken) of \(capacity) permits taken" + (isTotal ? " in total" : "") + shortage
    }
}

// MARK: - Waiting

/// A call that waits for permits.
private final class SemaphoreWait: Sendable {
    let weight: Int
    let key: LimitKey?
    /// The level of the wait if the task is not escalated.
    private let firstLevel: PriorityLevel
    private let firstPriority = Task.currentPriority
    let isTimeUp = AtomicFlag()
    /// The ticket of the wait; nil until the wait is in the line. The semaphore's lock is held while the wait is
    /// inserted and the ticket is set.
    let ticket = Lock<AsyncSemaphore.State.Ticket?>(nil)

    init(_ weight: Int, _ key: LimitKey?, _ priority: TaskPriority?) {
        self.weight = weight
        self.key = key
        firstLevel = PriorityLevel(priority ?? firstPriority)
    }

    /// The level of the wait after an escalation of the task to a priority.
    func level(at priority: TaskPriority) -> PriorityLevel {
        priority > firstPriority ? max(firstLevel, PriorityLevel(priority)) : firstLevel
    }
}

extension AsyncSemaphore {
    /// Waits for permits. Returns false if the wait ended early, without permits.
    private func suspend(_ wait: SemaphoreWait) async -> Bool {
        await AnyTaskOperation.recordingWait(.semaphore, wait.key?.waitDescription(cost: 1) ?? waitDescription(cost: 1))
        {
            await withWaitHandlers(endsWhenCancelled: true) { [self] priority in
                raise(wait, to: priority)
            } end: {
                leave(wait)
            } register: { continuation in
                apply { storage in
                    // The priority is read under the lock that `raise` takes. If an escalation finds no ticket, the
                    // priority is therefore already the new one.
                    let ticket = storage.state.wait(
                        .task(continuation), weight: wait.weight, for: wait.key?.number,
                        level: wait.level(at: Task.currentPriority), arrival: LineArrival(Rank.next()))
                    wait.ticket.withLock { $0 = ticket }
                }
                // A claim that keeps permits could wait for a permit that this task has.
                permit.stopKeeping()
                if Task.isCancelled || wait.isTimeUp.isSet { leave(wait) }
            }
        }
    }

    private func raise(_ wait: SemaphoreWait, to priority: TaskPriority) {
        apply { storage in
            if let ticket = wait.ticket.withLock({ $0 }) { storage.state.raise(ticket, to: wait.level(at: priority)) }
        }
    }

    private func leave(_ wait: SemaphoreWait) {
        guard let ticket = wait.ticket.withLock({ $0 }) else { return }
        if case .task(let continuation) = apply({ $0.state.leave(ticket) }) { continuation.resume(returning: false) }
    }

    /// Applies a change, and then serves the first waiters in the line.
    func apply<Result: Sendable>(_ event: (inout Storage) -> Result) -> Result {
        let (result, served) = serving(after: event)
        if !served.isEmpty { SemaphoreEffects(serving: served).perform() }
        return result
    }

    /// Reads the clock, and assigns free permits to the first waiters in the line. Called with no lock held.
    func serveAtOwnTime() -> SemaphoreEffects { SemaphoreEffects(serving: serving { _ in }.served) }

    /// Applies a change, and assigns free permits to the first waiters in the line.
    private func serving<Result: Sendable>(
        after event: (inout Storage) -> Result
    ) -> (result: Result, served: TinyArray<SemaphoreWaiter>) {
        withStorage { storage in
            let result = event(&storage)
            var served = TinyArray<SemaphoreWaiter>()
            storage.serve(&served, of: self)
            return (result, served)
        }
    }

    /// Applies a change at the time of the clock, and plans the next wake.
    private func withStorage<Result: Sendable>(_ event: (inout Storage) -> Result) -> Result {
        guard let clock = clock.value else { return storage.withLock { event(&$0) } }
        // Read before locking, because the clock may be user code.
        let reading = clock.read()
        let (result, wake, full) = storage.withLock { storage in
            clock.tell(reading, to: &storage.state)
            let result = event(&storage)
            let full = storage.state.takeFullKeys().compactMap { storage.keys.stopKeepingForTokens($0, of: self) }
            return (result, storage.state.nextWake(), full)
        }
        if let wake { clock.wake(self, wake) }
        // The keys may be the last references, and are released after unlocking.
        extendLifetime(full)
        return result
    }
}

extension AsyncSemaphore: ClockUser {
    func wake(_ wake: QueueTime.Wake) { apply { $0.state.noteWake(wake) } }
}

extension AsyncSemaphore.Storage {
    /// Assigns free permits to the first waiters in the line, and adds these waiters to `served`. The caller must then
    /// perform these effects, with no lock held.
    mutating func serve(_ served: inout TinyArray<SemaphoreWaiter>, of semaphore: AsyncSemaphore) {
        while let waiter = state.next() { served.append(waiter) }
        semaphore.setContenders(contenders)
    }

    /// What could receive released permits. The getter is mutating, because any other getter would copy the state.
    private var contenders: AsyncSemaphore.Contenders {
        mutating get {
            if !state.isSteady { return .several }
            if state.isLineEmpty { return .none }
            if case .claim(let claim)? = state.onlyWaiter { return .only(claim) }
            return .several
        }
    }

    /// Keeps a key until all its tokens are free again, and its pause is over.
    mutating func keepForTokens(_ key: LimitKey) {
        if state.hasBucket(key.number) { keys.keepForTokens(key) }
    }
}
