@testable import TaskOperations

/// Queues, and semaphores that are limits of their operations and that tasks acquire too, as one value to be explored.
///
/// It does to the states what the engine around them does, with every step that another thread could get in between as
/// an event of its own: what a queue learns of its limits, it learns later.
struct SmallLimits {
    struct Plan: Sendable {
        /// The queue and the limits of each operation.
        var operations: [(queue: Int, limits: [Int])]
        /// The semaphores that each task acquires, one after the other.
        var tasks: [[Int]] = []
        var widths = [1, 1]
        var capacities = [1, 1]
        var mayCancel = false
        var maySuspend = false
        /// How often an operation that is to start turns out to be waiting, or to have ended.
        var refusalCount = 0
    }

    enum Phase: Int {
        case made, pending, executing, finished
        /// It was to start, and has to wait.
        case waiting
    }

    let plan: Plan
    var queues: [SchedulerState<Int, Int>]
    var semaphores: [SemaphoreState<Int>]
    /// A set of limits of a queue, and the number of its claims.
    struct LimitSet {
        let limits: [Int]
        let claim: Int
    }

    /// Claims that were ever made, by their numbers.
    struct Claim {
        let queue: Int
        let set: Int
        let limits: [Int]
    }

    /// The sets of limits by their numbers, for each queue.
    var sets: [[Int: LimitSet]]
    var claims: [Claim] = []
    var phases: [Phase]
    var slots: [Int?]
    /// How many of its semaphores a task has, and whether it waits for the next one.
    var held: [Int]
    var isWaiting: [Bool]
    /// Waiting tasks in the order in which they came.
    var waitingOrder: [Int] = []
    /// Claims whose permits are taken and whose queue does not know it yet.
    var messages: [Int] = []
    /// How many starts were refused.
    var refusals = 0
    var violations: [String] = []

    init(_ plan: Plan) {
        self.plan = plan
        queues = plan.widths.map { SchedulerState(width: $0) }
        semaphores = plan.capacities.map { SemaphoreState(capacity: $0) }
        sets = plan.widths.map { _ in [:] }
        phases = plan.operations.map { _ in .made }
        slots = plan.operations.map { _ in nil }
        held = plan.tasks.map { _ in 0 }
        isWaiting = plan.tasks.map { _ in false }
    }
}

// MARK: - Claims

extension SmallLimits {
    /// One attempt, under the locks of all.
    private mutating func take(_ number: Int, _ limits: [Int], at level: PriorityLevel?) -> Bool {
        var attempt = LimitAttempt(number: number, level: level)
        for limit in limits where !attempt.look(at: semaphores[limit]) { return false }
        for (index, limit) in limits.enumerated() { attempt.settle(&semaphores[limit], index) }
        return attempt.succeeds
    }

    private mutating func serve(_ limits: [Int]) {
        var (left, tried) = (limits, [Int]())
        while let limit = left.last {
            switch semaphores[limit].next(tried: tried) {
            case .waiter(let task):
                isWaiting[task] = false
                held[task] += 1
                waitingOrder.removeAll { $0 == task }
            case .claim(let number):
                let limits = claims[number].limits
                if take(number, limits, at: nil) {
                    messages.append(number)
                    tried = []
                    left += limits
                } else {
                    tried.append(number)
                    left = limits + left
                }
            case nil: left.removeLast()
            }
        }
    }

    private mutating func settle(_ queue: Int) {
        while true {
            let (sets, before) = (sets[queue], semaphores)
            let changes = queues[queue].takeLimitChanges { set, level in
                sets[set]!.limits.allSatisfy { before[$0].mayKeep(at: level) }
            }
            if changes.isEmpty { break }
            for set in changes.returned { release(sets[set]!.limits) }
            for set in changes.withdrawn {
                let (limits, claim) = (sets[set]!.limits, sets[set]!.claim)
                for limit in limits { semaphores[limit].withdraw(claim) }
                serve(limits)
            }
            for set in changes.forgotten { self.sets[queue][set] = nil }
        }
        _ = queues[queue].takeOutbox()
    }

    private mutating func release(_ limits: [Int]) {
        for limit in limits { semaphores[limit].release(1) }
        serve(limits)
    }
}

// MARK: - What can happen

extension SmallLimits: Explorable {
    enum Event: Sendable {
        case add(Int)
        case start(queue: Int)
        /// The operation that is to start has to wait, or has ended.
        case refuseStart(queue: Int, hasEnded: Bool)
        case makeReady(Int)
        case finish(Int)
        case cancel(Int)
        case setSuspended(queue: Int, Bool)
        /// A queue learns that a claim of it was served.
        case learn(claim: Int)
        case acquire(task: Int)
        case release(task: Int)
    }

    var isEnd: Bool {
        phases.allSatisfy { $0 == .finished } && held.indices.allSatisfy { held[$0] == plan.tasks[$0].count + 1 }
    }

    func isProgress(_ event: Event) -> Bool {
        switch event {
        case .add, .start, .finish, .makeReady, .learn, .acquire, .release, .setSuspended(_, false): true
        case .cancel, .refuseStart, .setSuspended: false
        }
    }

    var events: [Event] {
        var events: [Event] = []
        if let next = phases.firstIndex(of: .made) { events.append(.add(next)) }
        for queue in queues.indices {
            if queues[queue].nextLevel != nil {
                events.append(.start(queue: queue))
                if refusals < plan.refusalCount {
                    events += [false, true].map { .refuseStart(queue: queue, hasEnded: $0) }
                }
            }
            if plan.maySuspend { events.append(.setSuspended(queue: queue, !queues[queue].isSuspended)) }
        }
        for number in phases.indices {
            if phases[number] == .executing { events.append(.finish(number)) }
            if phases[number] == .waiting { events.append(.makeReady(number)) }
            if phases[number] == .pending, plan.mayCancel { events.append(.cancel(number)) }
        }
        for message in messages { events.append(.learn(claim: message)) }
        for task in held.indices where !isWaiting[task] {
            if held[task] < plan.tasks[task].count { events.append(.acquire(task: task)) }
            if held[task] == plan.tasks[task].count { events.append(.release(task: task)) }
        }
        return events
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .add(let number): add(number)
        case .start(let queue):
            if let number = start(queue) { phases[number] = .executing }
            settle(queue)
        case .refuseStart(let queue, let hasEnded):
            if let number = start(queue) { refuseStart(number, hasEnded: hasEnded) }
            settle(queue)
        case .makeReady(let number):
            let queue = plan.operations[number].queue
            phases[number] = .pending
            queues[queue].setReady(slots[number]!, true)
            settle(queue)
        case .finish(let number), .cancel(let number):
            let queue = plan.operations[number].queue
            phases[number] = .finished
            queues[queue].remove(slots[number]!)
            slots[number] = nil
            settle(queue)
        case .setSuspended(let queue, let isSuspended):
            queues[queue].setSuspended(isSuspended)
            settle(queue)
        case .learn(let number):
            messages.remove(at: messages.firstIndex(of: number)!)
            let claim = claims[number]
            if sets[claim.queue][claim.set]?.claim == number {
                queues[claim.queue].limitsWereTaken(claim.set)
                settle(claim.queue)
            } else {
                release(claim.limits)
            }
        case .acquire(let task):
            let limit = plan.tasks[task][held[task]]
            if semaphores[limit].tryAcquire(1) {
                held[task] += 1
            } else {
                isWaiting[task] = true
                waitingOrder.append(task)
                _ = semaphores[limit].wait(task, weight: 1, level: .medium)
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
            let known = sets[queue].first { $0.value.limits == limits }?.key
            let set = known ?? queues[queue].makeLimitSet()
            if known == nil {
                sets[queue][set] = LimitSet(limits: limits, claim: claims.count)
                claims.append(Claim(queue: queue, set: set, limits: limits))
            }
            queues[queue].setLimits(set, of: slot)
        }
        queues[queue].insert(number, Newcomer(isReady: true), at: slot)
        slots[number] = slot
        phases[number] = .pending
        settle(queue)
    }

    /// Takes what is to start, if its limits have room.
    private mutating func start(_ queue: Int) -> Int? {
        var copy = self
        let slot = queues[queue].nextStart(at: queues[queue].nextLevel!) { set, level in
            copy.take(copy.sets[queue][set]!.claim, copy.sets[queue][set]!.limits, at: level)
        }
        semaphores = copy.semaphores
        return slot.map { queues[queue].records[$0].element }
    }

    private mutating func refuseStart(_ number: Int, hasEnded: Bool) {
        let queue = plan.operations[number].queue
        refusals += 1
        phases[number] = hasEnded ? .finished : .waiting
        queues[queue].refuseStart(slots[number]!)
        if !hasEnded { return }
        queues[queue].remove(slots[number]!)
        slots[number] = nil
    }

    private mutating func check() {
        for limit in semaphores.indices {
            let executing = phases.indices.count {
                phases[$0] == .executing && plan.operations[$0].limits.contains(limit)
            }
            let tasks = held.indices.count { task in
                held[task] <= plan.tasks[task].count && plan.tasks[task].prefix(held[task]).contains(limit)
            }
            let told = messages.count { claims[$0].limits.contains(limit) }
            let kept = queues.indices.reduce(0) { sum, queue in
                let limited = queues[queue].operations.admission.limited
                return sum
                    + limited.sets.slots.reduce(0) { sum, set in
                        sum + (sets[queue][set]!.limits.contains(limit) ? limited.sets[set].takenCount : 0)
                    }
            }
            let taken = semaphores[limit].permits.taken
            if taken != executing + tasks + told + kept {
                violations.append("\(taken) of \(limit) taken: \(executing) execute, \(tasks) tasks, \(told), \(kept)")
            }
            if taken > plan.capacities[limit] { violations.append("\(taken) of \(limit) are taken") }
        }
        for queue in queues.indices { violations += queues[queue].violations }
    }

    struct Key: Hashable {
        var numbers: [Int] = []
    }

    var key: Key {
        var key = Key(
            numbers: phases.map(\.rawValue) + held + isWaiting.map { $0 ? 1 : 0 } + waitingOrder + [refusals, -1])
        for queue in queues {
            key.numbers += [queue.isSuspended ? 1 : 0, queue.permits.taken]
            for set in queue.operations.admission.limited.sets.all {
                key.numbers += [set.parkedLevel == nil ? 0 : 1, set.hasClaim ? 1 : 0, set.takenCount, set.keptCount]
            }
            key.numbers.append(-2)
        }
        for semaphore in semaphores {
            key.numbers.append(semaphore.permits.taken)
            for claim in semaphore.claims.inOrder {
                key.numbers += [claim.number, claim.waitsElsewhere ? 1 : 0, claim.overtakenCount]
                key.numbers.append(semaphore.waitingCount(before: claim.arrival))
            }
            key.numbers.append(-3)
        }
        key.numbers += messages.sorted()
        return key
    }
}

extension SemaphoreState {
    /// How many waiting tasks came before a claim.
    fileprivate func waitingCount(before arrival: UInt64) -> Int {
        waitingArrivals.count { $0 < arrival }
    }
}
