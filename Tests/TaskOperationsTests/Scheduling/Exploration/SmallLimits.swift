@testable import TaskOperations

/// Queues and semaphores as one value to explore. Operations need the semaphores as limits, and tasks acquire them.
///
/// The value calls the states as the engine does. Every step before which another thread could run is a separate event.
/// For example, a queue learns in a later event that a limit has served one of its claims.
struct SmallLimits {
    struct Plan: Sendable {
        /// The queue and the limits of each operation.
        var operations: [(queue: Int, limits: [Int])]
        /// The semaphores that each task acquires, one after another.
        var tasks: [[Int]] = []
        var widths = [1, 1]
        var capacities = [1, 1]
        /// The capacity for each key of the first semaphore, and the key of each operation there; no keys if empty.
        var perKey = Int.max
        var keys: [Int?] = []
        /// The number of permits that each operation takes from each of its limits; 1 if empty.
        var weights: [Int] = []
        /// The level of each operation; empty if all operations have the same level.
        var levels: [PriorityLevel] = []
        var mayCancel = false
        var maySuspend = false
        /// The number of dependencies that operations get after they have become ready.
        var dependencyCount = 0
    }

    enum Phase: Int {
        case made, pending, executing, finished
        /// The operation has a new dependency.
        case waiting
    }

    let plan: Plan
    var queues: [SchedulerState<Int, Int>]
    var semaphores: [LimitState<Int>]
    /// A queue's claim to the permits of a set of limits.
    struct Claim {
        let queue: Int
        let set: Int
        let limits: [Int]
        let needs: [ClaimState<Int>.Need]
        var state: ClaimState<Int>
        /// True once no operation has these limits.
        var isForgotten = false
    }

    /// All claims, including forgotten ones. As a waiter of a semaphore, a claim has a number above those of the tasks.
    var claims: [Claim] = []
    var arrivals = 0
    /// The number of dependencies that operations have got so far.
    var dependencyCount = 0
    var phases: [Phase]
    var slots: [Int?]
    /// The number of semaphores that each task holds. `isWaiting` tells whether the task waits for the next one.
    var held: [Int]
    var isWaiting: [Bool]
    /// Waiting tasks in the order of arrival.
    var waitingOrder: [Int] = []
    /// The claims that a limit has served, and whose queue has not been told.
    var messages: [Int] = []
    /// The number of messages before this event. Other threads pass them on.
    var oldMessages = 0
    var violations: [String] = []

    init(_ plan: Plan) {
        self.plan = plan
        queues = plan.widths.map { SchedulerState(.init(maxConcurrentOperationCount: $0)) }
        semaphores = plan.capacities.map { LimitState(capacity: $0, perKey: plan.perKey) }
        for _ in 0..<(plan.keys.compactMap(\.self).max() ?? -1) + 1 { _ = semaphores[0].addKey() }
        phases = plan.operations.map { _ in .made }
        slots = plan.operations.map { _ in nil }
        held = plan.tasks.map { _ in 0 }
        isWaiting = plan.tasks.map { _ in false }
    }
}

// MARK: - Claims

extension SmallLimits {
    private func claim(of queue: Int, _ set: Int) -> Int {
        claims.firstIndex { $0.queue == queue && $0.set == set && !$0.isForgotten }!
    }

    /// Changes a claim, and serves the lines of the limits that it changes.
    private mutating func change<Result>(
        _ number: Int, _ body: (inout ClaimState<Int>, ClaimState<Int>.Access) -> Result
    ) -> Result {
        let limits = claims[number].limits
        var (copy, state) = (self, claims[number].state)
        let result = body(&state) { index, change in
            let ticket = change(&copy.semaphores[limits[index]])
            copy.serve([limits[index]])
            return ticket.map(copy.semaphores[limits[index]].isWaiting) ?? false
        }
        self = copy
        claims[number].state = state
        return result
    }

    private mutating func take(_ number: Int, at level: PriorityLevel? = nil) -> LimitedOperations.Attempt {
        if claims[number].state.isComplete { return .taken }
        arrivals += 1
        let (arrival, waiter) = (LineArrival(arrivals), plan.tasks.count + number)
        let isTaken = change(number) { $0.take(at: level, arrival: arrival, waiter, access: $1) }
        return isTaken ? .taken : .waits(isKeeping: claims[number].state.heldCount > 0)
    }

    private mutating func withdraw(_ number: Int) {
        change(number) { $0.withdraw(access: $1) }
    }

    /// The numbers of the claims that keep a permit for which a task waits, or keep a permit and wait for a limit that
    /// a task called after the claim.
    private var claimsToStop: [Int] {
        claims.indices.filter { number in
            let (state, limits) = (claims[number].state, claims[number].limits)
            guard let place = state.place, state.heldCount > 0 else { return false }
            return semaphores[limits[place.index]].servesTasks
                || limits.prefix(state.heldCount).contains { semaphores[$0].waitingCount > 0 }
        }
    }

    private mutating func serve(_ limits: [Int]) {
        for limit in limits {
            while let waiter = semaphores[limit].next() {
                if waiter >= plan.tasks.count {
                    send(waiter - plan.tasks.count)
                } else {
                    isWaiting[waiter] = false
                    held[waiter] += 1
                    waitingOrder.removeAll { $0 == waiter }
                }
            }
        }
    }

    /// Tells a claim that it was served. An earlier message has no further effect.
    private mutating func send(_ claim: Int) {
        if let earlier = messages.firstIndex(of: claim) {
            messages.remove(at: earlier)
            if earlier < oldMessages { oldMessages -= 1 }
        }
        messages.append(claim)
    }

    private mutating func release(_ limits: [Int]) {
        for limit in limits { semaphores[limit].release(1) }
        serve(limits)
    }

    private mutating func release(_ claim: Claim) {
        for (limit, need) in zip(claim.limits, claim.needs) { semaphores[limit].release(need.weight, for: need.key) }
        serve(claim.limits)
    }

    /// Performs the changes that a queue requests of its semaphores. Tells the queue which of its claims were served in
    /// this event.
    private mutating func updateLimits(of queue: Int) {
        withCopy(of: queue) { state, copy in
            state.claimReleasedLimits { set, level in copy.take(copy.claim(of: queue, set), at: level) }
        }
        while true {
            for change in queues[queue].takeLimitChanges() ?? TinyArray() { perform(change, queue) }
            let served = messages[oldMessages...].lastIndex { claims[$0].queue == queue }
            guard let served else { return }
            learn(messages.remove(at: served), startAt: nil)
        }
    }

    private mutating func learn(_ claim: Int, startAt level: PriorityLevel?) {
        if claims[claim].isForgotten || claims[claim].state.place == nil { return }
        let (queue, set) = (claims[claim].queue, claims[claim].set)
        let attempt = take(claim)
        guard attempt == .taken, let level, let slot = queues[queue].startServed(set, at: level) else {
            return queues[queue].claimWasServed(set, attempt)
        }
        claims[claim].state.transfer()
        phases[started(slot, of: queue, at: level)] = .executing
    }

    private mutating func perform(_ change: LimitedOperations.Change, _ queue: Int) {
        switch change {
        case .release(let set): release(claims[claim(of: queue, set)])
        case .withdraw(let set): withdraw(claim(of: queue, set))
        case .forget(let set):
            if !queues[queue].forgetLimitSet(set) { return }
            let number = claim(of: queue, set)
            withdraw(number)
            claims[number].isForgotten = true
        }
    }

    private mutating func settle(_ queue: Int) {
        updateLimits(of: queue)
        withCopy(of: queue) { state, copy in
            state.takeLimitsOfNext { set, level in copy.take(copy.claim(of: queue, set), at: level) }
        }
        repeat {
            updateLimits(of: queue)
            queues[queue].computeEffects()
            _ = queues[queue].takeEffects()
        } while queues[queue].giveBackLimits()
    }

    /// Changes a queue whose event changes the semaphores.
    private mutating func withCopy<Result>(
        of queue: Int, _ body: (inout SchedulerState<Int, Int>, inout SmallLimits) -> Result
    ) -> Result {
        var copy = self
        let result = body(&queues[queue], &copy)
        (semaphores, claims, arrivals) = (copy.semaphores, copy.claims, copy.arrivals)
        (messages, oldMessages) = (copy.messages, copy.oldMessages)
        (isWaiting, held, waitingOrder) = (copy.isWaiting, copy.held, copy.waitingOrder)
        return result
    }
}

// MARK: - Events

extension SmallLimits: Explorable {
    enum Event: Sendable {
        case add(Int)
        /// A requested worker begins to run, and starts the next operation of its level.
        case start(queue: Int, PriorityLevel)
        /// An operation gets a dependency.
        case makeWait(Int)
        case makeReady(Int)
        case finish(Int)
        /// An operation ends, and its worker starts the next operation in the same event.
        case finishAndStart(Int)
        case cancel(Int)
        case setSuspended(queue: Int, Bool)
        /// A queue learns that one of its claims was served. A worker of another queue may start an operation.
        case learn(claim: Int, startAt: PriorityLevel?)
        /// A claim gives back the permits that it keeps, because a task waits for one of them.
        case stopKeeping(claim: Int)
        case acquire(task: Int)
        case release(task: Int)
    }

    var isEnd: Bool {
        phases.allSatisfy { $0 == .finished } && held.indices.allSatisfy { held[$0] == plan.tasks[$0].count + 1 }
    }

    func isProgress(_ event: Event) -> Bool {
        switch event {
        case .add, .start, .finish, .finishAndStart, .makeReady, .learn, .stopKeeping, .acquire, .release,
            .setSuspended(_, false):
            true
        case .cancel, .makeWait, .setSuspended: false
        }
    }

    var events: [Event] {
        var events: [Event] = []
        if let next = phases.firstIndex(of: .made) { events.append(.add(next)) }
        for queue in queues.indices {
            for level in PriorityLevel.allCases where queues[queue].starting[level] > 0 {
                events.append(.start(queue: queue, level))
            }
            if plan.maySuspend { events.append(.setSuspended(queue: queue, !queues[queue].isSuspended)) }
        }
        for number in phases.indices {
            if phases[number] == .executing { events += [.finish(number), .finishAndStart(number)] }
            if phases[number] == .waiting { events.append(.makeReady(number)) }
            if phases[number] == .pending, plan.mayCancel { events.append(.cancel(number)) }
            if phases[number] == .pending, dependencyCount < plan.dependencyCount { events.append(.makeWait(number)) }
        }
        let levels = Set(plan.levels.isEmpty ? [.medium] : plan.levels).sorted()
        for message in messages {
            events.append(.learn(claim: message, startAt: nil))
            events += levels.map { .learn(claim: message, startAt: $0) }
        }
        for claim in claimsToStop { events.append(.stopKeeping(claim: claim)) }
        for task in held.indices where !isWaiting[task] {
            if held[task] < plan.tasks[task].count { events.append(.acquire(task: task)) }
            if held[task] == plan.tasks[task].count { events.append(.release(task: task)) }
        }
        return events
    }

    mutating func apply(_ event: Event) {
        oldMessages = messages.count
        switch event {
        case .add(let number): add(number)
        case .start(let queue, let level):
            queues[queue].workerBegan(at: level)
            start(queue, at: level)
            settle(queue)
        case .makeWait(let number):
            let queue = plan.operations[number].queue
            dependencyCount += 1
            phases[number] = .waiting
            queues[queue].setReady(slots[number]!, false)
            settle(queue)
        case .makeReady(let number):
            let queue = plan.operations[number].queue
            phases[number] = .pending
            queues[queue].setReady(slots[number]!, true)
            settle(queue)
        case .finish(let number), .cancel(let number):
            let queue = end(number)
            settle(queue)
        case .finishAndStart(let number):
            let queue = end(number)
            start(queue, at: plan.levels.isEmpty ? .medium : plan.levels[number])
            settle(queue)
        case .setSuspended(let queue, let isSuspended):
            queues[queue].setSuspended(isSuspended)
            settle(queue)
        case .learn(let number, let level):
            messages.remove(at: messages.firstIndex(of: number)!)
            oldMessages -= 1
            learn(number, startAt: level)
            settle(claims[number].queue)
        case .stopKeeping(let number):
            change(number) { $0.stopKeeping(access: $1) }
            settle(claims[number].queue)
        case .acquire(let task):
            let limit = plan.tasks[task][held[task]]
            _ = semaphores[limit].noteTask()
            if semaphores[limit].tryAcquire(1) {
                held[task] += 1
            } else {
                isWaiting[task] = true
                waitingOrder.append(task)
                arrivals += 1
                _ = semaphores[limit].wait(task, weight: 1, level: .medium, arrival: LineArrival(arrivals))
                serve([limit])
            }
        case .release(let task):
            held[task] = plan.tasks[task].count + 1
            release(plan.tasks[task])
        }
        check()
    }

    private mutating func add(_ number: Int) {
        let (queue, limits) = plan.operations[number]
        let slot = queues[queue].nextSlot
        if !limits.isEmpty {
            let needs = needs(of: number)
            let known = claims.first { claim in
                claim.queue == queue && claim.limits == limits && claim.needs == needs && !claim.isForgotten
            }?.set
            let set = known ?? queues[queue].makeLimitSet()
            if known == nil {
                claims.append(
                    Claim(queue: queue, set: set, limits: limits, needs: needs, state: ClaimState(needs)))
            }
            queues[queue].setLimits(set, of: slot)
        }
        let level = plan.levels.isEmpty ? .medium : plan.levels[number]
        queues[queue].insert(number, Newcomer(level: level, isReady: true), at: slot)
        slots[number] = slot
        phases[number] = .pending
        settle(queue)
    }

    private func needs(of number: Int) -> [ClaimState<Int>.Need] {
        let weight = plan.weights.isEmpty ? 1 : plan.weights[number]
        let key = plan.keys.isEmpty ? nil : plan.keys[number]
        return plan.operations[number].limits.map { .init(weight: weight, key: $0 == 0 ? key : nil) }
    }

    /// Ends an operation. Returns its queue.
    private mutating func end(_ number: Int) -> Int {
        let queue = plan.operations[number].queue
        phases[number] = .finished
        queues[queue].remove(slots[number]!)
        slots[number] = nil
        return queue
    }

    private mutating func start(_ queue: Int, at level: PriorityLevel) {
        if let number = next(queue, at: level) { phases[number] = .executing }
    }

    /// Starts the next operation of a queue if its limits have permits.
    private mutating func next(_ queue: Int, at level: PriorityLevel) -> Int? {
        let passedOn = withCopy(of: queue) { state, copy in
            state.startWithReleasedLimits(at: level) { set in
                let claim = copy.claim(of: queue, set)
                return copy.claims[claim].limits.allSatisfy { limit in
                    let semaphore = copy.semaphores[limit]
                    let isOnlyWaiter = semaphore.onlyWaiter == copy.plan.tasks.count + claim
                    return semaphore.isSteady && (semaphore.isLineEmpty || isOnlyWaiter)
                }
            }
        }
        updateLimits(of: queue)
        return (passedOn ?? takeLimitsAndStart(queue, at: level)).map { started($0, of: queue, at: level) }
    }

    /// Lets the claim of a started operation wait again. Returns the number of the operation.
    private mutating func started(_ slot: Int, of queue: Int, at level: PriorityLevel) -> Int {
        if let set = queues[queue].limitedOperations.set(of: slot) {
            withCopy(of: queue) { state, copy in
                state.claimNext(of: set) { set, level in copy.take(copy.claim(of: queue, set), at: level) }
            }
        }
        if queues[queue].rows[slot].level != level { violations.append("slot \(slot) started at another level") }
        checkOrder(of: slot, in: queues[queue])
        return queues[queue].rows[slot].element
    }

    private mutating func takeLimitsAndStart(_ queue: Int, at level: PriorityLevel) -> Int? {
        let slot = withCopy(of: queue) { state, copy in
            state.nextStart(at: level) { set, level in copy.take(copy.claim(of: queue, set), at: level) }
        }
        if let slot, let set = queues[queue].limitedOperations.set(of: slot) {
            claims[claim(of: queue, set)].state.transfer()
        }
        return slot
    }

    /// Of the ready operations with the same limits, the one that has started must have been the first one.
    private mutating func checkOrder(of started: Int, in queue: SchedulerState<Int, Int>) {
        let limited = queue.limitedOperations
        let place = { slot in
            let record = queue.rows[slot]
            return (-Int(record.level.rawValue), record.arrival)
        }
        for slot in queue.rows.slots where queue.rows[slot].status == .ready {
            if limited.set(of: slot) == limited.set(of: started), place(slot) < place(started) {
                violations.append("\(queue.rows[started].element) overtook \(queue.rows[slot].element)")
            }
        }
    }

    private mutating func check() {
        for limit in semaphores.indices {
            let holders = phases.indices.filter {
                phases[$0] == .executing && plan.operations[$0].limits.contains(limit)
            }
            let executing = holders.reduce(0) { $0 + needs(of: $1)[0].weight }
            let tasks = held.indices.count { task in
                held[task] <= plan.tasks[task].count && plan.tasks[task].prefix(held[task]).contains(limit)
            }
            let claimed = claims.map { permits(of: limit, for: $0) }.filter { $0 > 0 }
            let taken = semaphores[limit].permits.taken
            if taken != executing + tasks + claimed.reduce(0, +) {
                violations.append("\(taken) of \(limit) taken: \(executing) executing, \(tasks) tasks, \(claimed)")
            }
            if taken > plan.capacities[limit], holders.count + tasks + claimed.count > 1 {
                violations.append("\(taken) of \(limit) are taken")
            }
            for key in Set(plan.keys.compactMap(\.self)) where limit == 0 {
                let ofKey = holders.filter { plan.keys[$0] == key }
                let claimed = claims.filter { $0.needs.first?.key == key }.map { permits(of: 0, for: $0) }
                let taken = ofKey.reduce(claimed.reduce(0, +)) { $0 + needs(of: $1)[0].weight }
                if semaphores[0].takenCount(of: key) != taken { violations.append("other permits of key \(key)") }
                if taken > plan.perKey, ofKey.count + claimed.count(where: { $0 > 0 }) > 1 {
                    violations.append("\(taken) of key \(key) are taken")
                }
            }
        }
        for queue in queues.indices {
            violations += queues[queue].violations
            for set in queues[queue].limitedOperations.sets.slots { check(set, of: queue) }
        }
    }

    /// A queue and its claim must agree on the permits of the claim.
    private mutating func check(_ set: Int, of queue: Int) {
        let state = claims[claim(of: queue, set)].state
        let isRight =
            switch queues[queue].limitedOperations.sets[set].availability {
            case .unknown: state.place == nil && state.heldCount == 0
            case .claimed(_, let isKeeping): state.place != nil && (isKeeping || state.heldCount == 0)
            case .held: state.isComplete
            }
        if !isRight { violations.append("a claim does not have the availability of set \(set)") }
        let mayStart = !queues[queue].isHalted && queues[queue].width.available > 0
        if !mayStart, state.isComplete { violations.append("a queue that can start nothing holds all permits") }
        let isClosed = queues[queue].isHalted || queues[queue].width.capacity == 0
        if isClosed, state.heldCount > 0 { violations.append("a suspended queue keeps permits") }
    }

    /// The permits of a limit that a claim holds.
    private func permits(of limit: Int, for claim: Claim) -> Int {
        guard let index = claim.limits.firstIndex(of: limit) else { return 0 }
        return claim.state.holds(index, of: semaphores[limit]) ? claim.needs[index].weight : 0
    }

    struct Key: Hashable {
        var numbers: [Int] = []
    }

    var key: Key {
        var key = Key(numbers: phases.map(\.rawValue) + held + isWaiting.map { $0 ? 1 : 0 } + waitingOrder)
        key.numbers += [dependencyCount, -1]
        for queue in queues {
            key.numbers += [queue.isSuspended ? 1 : 0, queue.width.taken]
            key.numbers += PriorityLevel.allCases.map { Int(queue.starting[$0]) }
            key.numbers += queue.rows.slots.map { queue.limitedOperations.isParked($0) ? 1 : 0 }
            let sets = queue.limitedOperations.sets.slots
            for set in queue.limitedOperations.sets.all {
                switch set.availability {
                case .unknown: key.numbers.append(0)
                case .claimed(let level, let isKeeping): key.numbers += [Int(level.rawValue) + 2, isKeeping ? 1 : 0]
                case .held(let holder):
                    let earlier = sets.compactMap { queue.limitedOperations.holder(of: $0) }.count {
                        $0.service < holder.service
                    }
                    key.numbers += [1, holder.entry.slot, earlier]
                }
            }
            key.numbers.append(-2)
        }
        for semaphore in semaphores {
            key.numbers += [semaphore.permits.taken, semaphore.servesTasks ? 1 : 0] + semaphore.waitersInOrder + [-3]
        }
        for claim in claims {
            let state = claim.state
            key.numbers +=
                claim.isForgotten
                ? [-1] : [state.heldCount, state.place?.index ?? -1, state.keepsNothing ? 1 : 0]
        }
        key.numbers += messages.sorted()
        return key
    }
}
