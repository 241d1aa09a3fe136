@testable import TaskOperations

/// A scheduler that is simple enough to be obviously right: it searches one list, in the order of arrival, for
/// everything.
struct NaiveScheduler {
    typealias Status = SchedulerState<Int, Int>.Status

    struct Operation {
        let id: Int
        let isBarrier: Bool
        var level: PriorityLevel
        var weight = 1
        var status = Status.waiting
        var waits = 0
        /// The operation was dropped to make room for another one, and will end.
        var isDropped = false

        var isPending: Bool { !isDropped && (status == .waiting || status == .ready) }
    }

    /// All operations that have not ended, in the order of arrival.
    var operations: [Operation] = []
    var width: Int
    var isSuspended: Bool
    var isDraining = false
    /// The levels that waits for the end of all operations pass on.
    var endLevels: [PriorityLevel] = []
    var admission = AdmissionState.open

    var caps: [PriorityLevel: Int] = [:]
    var time = 0
    /// The accumulated time for starts; each start takes `interval` of it.
    var tokens: Int?
    /// The interval of the rate.
    static let interval = 10

    /// The operations that wait for room.
    var producers: [Operation] = []
    var queuedLimit: Int
    let configuration: TaskOperationQueue.Configuration

    var order: TaskOperationQueue.Configuration.Order { configuration.order }

    init(_ configuration: TaskOperationQueue.Configuration) {
        width = configuration.maxConcurrentOperationCount
        self.configuration = configuration
        isSuspended = configuration.isSuspended
        queuedLimit = configuration.maxQueuedOperationCount
        tokens = configuration.rate.map { $0.burst * Self.interval }
    }

    mutating func passTime(_ duration: Int) {
        time += duration
        addTokens(duration)
    }

    mutating func start(_ id: Int) {
        self[id].status = .executing
        tokens? -= Self.interval
    }

    private mutating func addTokens(_ duration: Int) {
        if let rate = configuration.rate { tokens = min(tokens! + duration, rate.burst * Self.interval) }
    }

    // MARK: Derived values

    var available: Int { max(0, width - taken) }

    var taken: Int { taken { _ in true } }

    private func taken(where isCounted: (Operation) -> Bool) -> Int {
        operations.reduce(0) { $0 + ($1.status == .executing && isCounted($1) ? $1.weight : 0) }
    }

    /// The number of operations that could start now, one after another.
    var startableCount: Int {
        isSuspended || nextOfReturning != nil
            ? 0 : min(available, admitted.count, tokens.map { $0 / Self.interval } ?? .max)
    }

    /// Only the first operation of each level is a candidate. A level without free permits is skipped.
    var nextStart: Operation? {
        if startableCount == 0 { return nil }
        for next in firstOfLevels {
            let (cap, taken) = (caps[next.level] ?? .max, taken { $0.level == next.level })
            if next.weight > cap - taken, taken > 0 || cap == 0 { continue }
            return next.weight <= available || self.taken == 0 ? next : nil
        }
        return nil
    }

    private var firstOfLevels: [Operation] {
        PriorityLevel.allCases.reversed().compactMap { level in
            first(of: admitted.filter { $0.level == level }, order)
        }
    }

    var nextReturn: Operation? {
        guard let next = nextOfReturning else { return nil }
        let (cap, taken) = (caps[next.level] ?? .max, taken { $0.level == next.level })
        if next.weight > cap - taken, taken > 0 { return nil }
        return next.weight <= available || self.taken == 0 ? next : nil
    }

    private var nextOfReturning: Operation? {
        let open = operations.filter { operation in
            let (cap, taken) = (caps[operation.level] ?? .max, taken { $0.level == operation.level })
            return operation.status == .returning && (taken < cap || taken == 0)
        }
        return first(of: open, .firstInFirstOut)
    }

    /// Ready operations without a barrier that holds them back.
    private var admitted: [Operation] {
        operations.filter { $0.status == .ready && holdingBack($0.id).isEmpty }
    }

    /// The operations that must end before an operation may start, because of barriers.
    func holdingBack(_ id: Int) -> [Int] {
        let before = operations[..<index(id)]
        if operations[index(id)].isBarrier { return before.map(\.id) }
        return before.filter(\.isBarrier).map(\.id)
    }

    /// The last barrier before an operation and, if the operation is a barrier, all operations between the two. Sorted
    /// by number.
    func nearestHoldingBack(_ id: Int) -> [Int] {
        let before = operations[..<index(id)]
        let barrier = before.lastIndex(where: \.isBarrier)
        let between = before[(barrier.map { $0 + 1 } ?? 0)...].filter { !$0.isDropped }
        let behind = operations[index(id)].isBarrier ? between.map(\.id) : []
        return ((barrier.map { [operations[$0].id] } ?? []) + behind).sorted()
    }

    /// The highest level of the waiters that an operation holds up: later operations, because of barriers, and tasks
    /// that wait for the end of all operations.
    func floor(_ id: Int) -> PriorityLevel {
        // The first operation that waits for this one. All later operations wait for that one, or for the same barrier.
        let behind = operations[(index(id) + 1)...]
        let first = behind.firstIndex { $0.isBarrier || self[id].isBarrier } ?? behind.endIndex
        return (operations[first...].map(\.level) + endLevels).max() ?? .background
    }

    /// The level of the task in which an operation would run.
    func level(of operation: Operation) -> PriorityLevel { max(operation.level, floor(operation.id)) }

    private func first(of candidates: [Operation], _ order: TaskOperationQueue.Configuration.Order) -> Operation? {
        let highest = candidates.map(\.level).max()
        switch order {
        case .firstInFirstOut: return candidates.first { $0.level == highest }
        case .lastInFirstOut: return candidates.last { $0.level == highest }
        }
    }

    // MARK: Room

    var queuedCount: Int { operations.count(where: \.isPending) }

    var isFull: Bool { queuedCount - freePermitCount >= queuedLimit }

    /// The number of further operations that the width permits to execute.
    private var freePermitCount: Int {
        isSuspended ? 0 : max(0, width - operations.count { $0.status != .waiting && $0.status != .ready })
    }

    var nextAdmission: Operation? { isFull ? nil : producers.first }

    mutating func admit() {
        operations.append(producers.removeFirst())
    }

    /// Returns whether the operation is accepted, and the operation that is dropped to make room for it.
    mutating func add(_ operation: Operation) -> (isTaken: Bool, dropped: Int?) {
        var dropped: Int?
        if isFull {
            switch configuration.overflow {
            case .reject: break
            case .dropOldest: dropped = operations.filter(\.isPending).dropFirst(freePermitCount).first?.id
            }
            guard let dropped else { return (false, nil) }
            self[dropped].isDropped = true
            self[dropped].status = .waiting
        }
        operations.append(operation)
        return (true, dropped)
    }

    // MARK: Events

    mutating func setReady(_ id: Int, _ isReady: Bool) {
        if self[id].isDropped { return }
        switch self[id].status {
        case .waiting, .ready: self[id].status = isReady ? .ready : .waiting
        case .executing, .lent, .returning: break
        }
    }

    mutating func setWidth(_ width: Int) { self.width = width == 0 && isDraining ? 1 : width }

    mutating func setSuspended(_ isSuspended: Bool) { self.isSuspended = isDraining ? false : isSuspended }

    mutating func drain() {
        isDraining = true
        isSuspended = false
        if width == 0 { width = 1 }
        caps = caps.mapValues { max(1, $0) }
    }

    mutating func end(_ id: Int) {
        operations.remove(at: index(id))
        if operations.isEmpty, producers.isEmpty, admission == .closing { admission = .shut }
    }

    mutating func shutDown(whenEmpty: Bool) {
        if admission == .shut { return }
        admission = whenEmpty && !operations.isEmpty ? .closing : .shut
        if admission == .shut { producers = [] }
    }

    /// Returns the tasks that continue.
    mutating func beginWait(_ id: Int) -> [Int] {
        defer {
            self[id].waits += 1
            self[id].status = .lent
        }
        return self[id].status == .returning ? [id] : []
    }

    /// Returns the tasks that continue.
    mutating func endWait(_ id: Int) -> [Int] {
        self[id].waits -= 1
        if self[id].waits == 0 { self[id].status = .returning }
        return self[id].waits == 0 ? [] : [id]
    }

    // MARK: Lookups

    subscript(id: Int) -> Operation {
        get { operations[index(id)] }
        set { operations[index(id)] = newValue }
    }

    func count(_ status: Status) -> Int { operations.count { $0.status == status } }

    private func index(_ id: Int) -> Int { operations.firstIndex { $0.id == id }! }
}
