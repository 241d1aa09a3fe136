/// The options of an operation, which decide how it runs. Each function that creates or adds an operation takes a value
/// of this type. The name and the dependencies belong to a single operation, so they are arguments of these functions.
///
/// Each option is a static function. An array literal combines options, like that of an `OptionSet`. An element of the
/// array may itself be a combination.
///
/// ```swift
/// let network: OperationOptions = [
///     .limit(connections), .retry(.exponential(initial: .milliseconds(200), attempts: 5)),
///     .timeout(.seconds(20)),
/// ]
/// queue.addOperation(name: url.path, network) { try await load(url) }
/// queue.addOperation([.weight(3), .timeout(untilStart: .seconds(30))], after: data) { try decode($0) }
/// ```
///
/// A combination contains the limits of all its elements. For every other option, the last value applies. `TaskOperationQueue.Configuration.defaults` supplies options that an operation does not set.
///
/// ## Order
///
/// Policies apply in a fixed order, regardless of the order of the options. From the outermost to the innermost:
///
/// 1. `timeout(untilEnd:)` covers everything from the addition to the end of the body.
/// 2. `timeout(untilStart:)` covers the time from the addition to the start.
/// 3. `delay(_:)` and the dependencies hold the operation back before it competes for permits.
/// 4. When the operation has the permits of its limits (`limit(_:)`), it takes the permits of its queue
///    (`weight(_:)`) and a token of the queue's rate in one step, and starts.
/// 5. `timeout(_:)` covers the body with all attempts and pauses.
/// 6. `retry(_:)` repeats the next step. Between attempts, the operation lends its permits. Each attempt takes a token
///    of the rate.
/// 7. `timeout(perAttempt:)` covers one call of the body.
public struct OperationOptions: Sendable {
    /// The options that are set, each once, in the order in which they were first set. An operation keeps this list. A value with a
    /// property for each option would need 300 bytes.
    private(set) var settings: [OptionSetting] = []

    /// Creates options that change nothing.
    public init() {}

    private init(_ setting: OptionSetting) { settings = [setting] }

    var isEmpty: Bool { settings.isEmpty }

    /// The options of an empty operation that pulls a delivery when an operation with these options could start. Includes
    /// their priority, weight and limits.
    var ofPull: OperationOptions {
        var pull = OperationOptions()
        pull.settings = settings.filter { setting in
            switch setting {
            case .priority, .weight, .limits: true
            default: false
            }
        }
        return pull
    }

    /// The value of each option. Takes linear time in the number of options.
    var values: OptionValues { OptionValues(self) }

    /// The level of the priority; nil if none is set. Reads no other option, and creates no values.
    package var level: PriorityLevel? {
        for index in settings.indices {
            if case .priority(let rawValue) = settings[index] { return PriorityLevel(TaskPriority(rawValue: rawValue)) }
        }
        return nil
    }

    /// The time until the end of the delay, and the clock. The time is nil without a delay. Takes linear time in the number
    /// of options.
    package var schedule: (delay: Duration?, clock: any Clock<Duration>) {
        let values = values
        return (values.delay?.remaining, values.body.clock)
    }

    /// The requests of all limits, in the order of the options.
    var limits: [LimitRequest] {
        var limits: [LimitRequest] = []
        // By index: an iterator would copy each option.
        for index in settings.indices {
            if case .limits(let added) = settings[index] { limits = limits.isEmpty ? added : limits + added }
        }
        return limits
    }

    /// These options, and the priority that a call passes as an argument. The option replaces the argument.
    // Inlined, and converts the priority before it is copied, because the runtime looks up the type `TaskPriority?` for
    // each copy.
    @inline(__always)
    func with(_ priority: TaskPriority?) -> OperationOptions {
        var rawPriority: UInt8?
        if let priority { rawPriority = priority.rawValue }
        return rawPriority.map { OperationOptions(.priority(rawValue: $0)).adding(self) } ?? self
    }

    /// These options and others. A later option replaces an earlier one, except for limits.
    func adding(_ other: OperationOptions) -> OperationOptions {
        if isEmpty { return other }
        var (sum, replaced) = (self, [OptionSetting]())
        sum.add(other, &replaced)
        return sum
    }

    /// Adds options to these.
    ///
    /// - Parameter replaced: Receives the replaced values, which the caller may release later.
    mutating func add(_ other: OperationOptions, _ replaced: inout [OptionSetting]) {
        // By index: an iterator would copy each option.
        for index in other.settings.indices { add(other.settings[index], &replaced) }
    }

    private mutating func add(_ setting: OptionSetting, _ replaced: inout [OptionSetting]) {
        guard let index = settings.firstIndex(where: { $0.kind == setting.kind }) else {
            return settings.append(setting)
        }
        // A list is removed while it is changed, so that it is changed in place.
        if case .limits(var list) = settings[index], case .limits(let others) = setting {
            settings[index] = .limits([])
            for request in others {
                if let same = list.firstIndex(where: { $0.limit === request.limit }) {
                    replaced.append(.limits([list.remove(at: same)]))
                }
                list.append(request)
            }
            settings[index] = .limits(list)
        } else {
            replaced.append(settings[index])
            settings[index] = setting
        }
    }
}

extension OperationOptions: ExpressibleByArrayLiteral {
    /// Combines options. The result contains the limits of all elements. For every other option, the last value
    /// applies.
    public init(arrayLiteral elements: OperationOptions...) {
        self = elements.reduce(OperationOptions()) { $0.adding($1) }
    }
}

// MARK: - Start

extension OperationOptions {
    /// Sets the priority. It orders the ready operations of a queue, and is the priority of the body's task.
    ///
    /// Without this option, an operation has the priority of its group or of its queue's default options. If neither
    /// sets a priority, it is `.medium`. The priority of the task that adds the operation has no influence. Operations
    /// and tasks that wait for an operation raise it to their own priority. In a call, the option replaces the argument
    /// `priority:`.
    public static func priority(_ priority: TaskPriority) -> OperationOptions {
        OperationOptions(.priority(rawValue: priority.rawValue))
    }

    /// Sets the number of permits that the body takes from its queue while it executes. The default is 1.
    ///
    /// An operation whose weight exceeds the width of its queue runs alone. While an operation waits for permits,
    /// operations of the same or a lower priority do not overtake it. Heavy operations can therefore not starve.
    ///
    /// - Parameter weight: The number of permits, from 1 to 32,767. Any other number stops the process with a message.
    public static func weight(_ weight: Int) -> OperationOptions {
        require((1...highestWeight).contains(weight), "weight is \(weight); it must be from 1 to \(highestWeight).")
        return OperationOptions(.weight(weight))
    }

    /// Adds a limit: a semaphore that the operation shares with operations of any queue and with callers of
    /// `withPermit`. Several limits are several options.
    ///
    /// The operation starts when it has a permit of its queue and the permits of each limit. When its body has ended,
    /// the operation releases the permits. A semaphore of capacity 1 gives mutual exclusion.
    ///
    /// ```swift
    /// let database = AsyncSemaphore(capacity: 1)
    /// let hosts = AsyncSemaphore(capacity: 16, perKey: 2)
    /// let memory = AsyncSemaphore(capacity: 512 << 20)  // bytes
    /// reads.addOperation([.limit(database), .limit(memory, weight: size)]) { … }
    /// loads.addOperation(.limit(hosts, key: url.host)) { … }
    /// try await database.withPermit { … }
    /// ```
    ///
    /// With a key, at most `capacityPerKey` permits are taken for the key. An operation whose key has no free permit
    /// delays no operation of another key. Among operations of one priority, keys receive permits in proportion to their
    /// shares; see `AsyncSemaphore.setShare(_:for:)`.
    ///
    /// With a weight, the operation takes several permits. If the semaphore has never had as many permits when the
    /// operation is added, the operation fails with `TaskOperationError.weightExceedsCapacity`. To run heavy operations
    /// alone instead, pass `min(size, memory.capacity)`. While an operation waits for many permits, operations of the
    /// same or a lower priority do not overtake it. It therefore cannot starve.
    ///
    /// With a cost, the operation uses several tokens of the semaphore's rates when it starts, and again for each further
    /// attempt. Unlike a weight, a cost is not returned at the end: the rate replaces it. Pass an estimate if the cost is
    /// known later, and correct it with `AsyncSemaphore.settle(_:)`. With a cost of 0, an operation starts as soon as no
    /// debt is left.
    ///
    /// ```swift
    /// let model = AsyncSemaphore(
    ///     capacity: 64, ratePerKey: [.perMinute(90_000, burst: 9_000), .perMinute(500, of: .starts)])
    /// queue.addOperation(.limit(model, key: provider, cost: estimate)) {
    ///     let answer = try await provider.ask(question)
    ///     model.settle(answer.tokenCount)
    ///     return answer
    /// }
    /// ```
    ///
    /// While an operation waits for a limit, later operations of its queue that do not need this limit can start.
    /// Operations and tasks receive permits by priority, then by arrival. If operations of several queues wait, the
    /// queues take turns of one operation.
    ///
    /// Several limits are taken in the order in which the semaphores were created, regardless of their order here. If one
    /// of them has a rate, the operation takes all of them in one step, and keeps none while it waits. All operations of
    /// a queue with the same limits wait together: for them, the queue keeps at most the permits of one operation while
    /// it waits for the next limit. It gives these permits back if a task waits for one of them, or if they could cause
    /// a deadlock.
    ///
    /// The queue keeps no permit of its own for a waiting operation, and no permit of a limit while it is suspended. If
    /// the limits are free only while the queue is full, the operation keeps waiting. To prevent this, add the operation
    /// to a separate queue, or increase the width of the queue.
    ///
    /// A body keeps the permits of its limits during its waits, even if it lends the permit of its queue. During a
    /// pause between attempts, the body lends the permits of its limits. It takes them back before the next attempt.
    ///
    /// A body might await an operation that needs one of these limits, directly or through other operations. The wait
    /// then throws `TaskOperationError.waitCycle`. It throws even if the semaphore has more permits, because all of
    /// them may be taken when the operation needs one. The library does not know which task holds a permit by
    /// `withPermit`. If that task awaits an operation that needs the permit, both wait forever.
    ///
    /// - Parameters:
    ///   - semaphore: The semaphore. If it is given several times, its last option applies.
    ///   - key: The key. Keys of different types are different. Nil means no key.
    ///   - weight: The number of permits; at least 1. A smaller number stops the process with a message.
    ///   - cost: The number of tokens of the semaphore's rates; not negative. A negative number stops the process with a
    ///     message. Without rates, it has no effect.
    public static func limit(
        _ semaphore: AsyncSemaphore, key: (some Hashable & Sendable)?, weight: Int = 1, cost: Int = 1
    ) -> OperationOptions {
        limit(LimitRequest(limit: semaphore, key: semaphore.interned(key), weight: weight, cost: cost))
    }

    /// Adds a limit without a key: the capacity and the rate of each key do not apply, only those in total. See
    /// `limit(_:key:weight:cost:)`.
    public static func limit(_ semaphore: AsyncSemaphore, weight: Int = 1, cost: Int = 1) -> OperationOptions {
        limit(LimitRequest(limit: semaphore, key: nil, weight: weight, cost: cost))
    }

    private static func limit(_ request: LimitRequest) -> OperationOptions {
        require(request.weight > 0, "weight is \(request.weight); it must be at least 1.")
        request.limit.checkCost(request.cost)
        return OperationOptions(.limits([request]))
    }

    /// One permit of each of several semaphores.
    package static func limits(_ semaphores: [AsyncSemaphore]) -> OperationOptions {
        OperationOptions(.limits(semaphores.map { LimitRequest(limit: $0, key: nil, weight: 1) }))
    }

    /// Delays the operation for a time after its addition. After the delay, the operation still waits for its
    /// dependencies and its turn.
    ///
    /// A delayed operation takes no permit, and a cancellation ends it at once. The time also passes while the queue is
    /// suspended. A delayed barrier holds back no operation; see `TaskOperationQueue.addBarrier(_:)`.
    ///
    /// All delays on the same clock share one sleeping task. Adding and cancelling take logarithmic time in the number
    /// of pending delays on the clock. Two clocks are treated as the same clock if their types and their bytes are
    /// equal.
    ///
    /// - Parameter delay: The time. A duration that is not positive has no effect.
    public static func delay(_ delay: Duration) -> OperationOptions {
        OperationOptions(.delay(.duration(delay)))
    }

    /// Delays the operation until an instant, like `delay(_:)`. Also sets the clock.
    public static func delay<C: Clock>(
        until instant: C.Instant, clock: C = ContinuousClock()
    ) -> OperationOptions where C.Duration == Duration {
        [OperationOptions(.delay(TimeFromNow(until: instant, clock))), .clock(clock)]
    }
}

// MARK: - Timeouts and retries

extension OperationOptions {
    /// Limits the time from the addition to the start.
    ///
    /// When the time is over, an operation that has not started fails with `TaskOperationError.startTimedOut`. An
    /// operation that has failed in this way never starts. The time includes delays, waits for dependencies, and waits
    /// for room.
    ///
    /// - Parameter limit: The time. If it is zero or negative, the operation fails when it is added.
    public static func timeout(untilStart limit: Duration) -> OperationOptions {
        OperationOptions(.startTimeout(.duration(limit)))
    }

    /// Limits the time from the addition to the end of the body.
    ///
    /// When the time is over, an operation that has not started ends at once. It ends even on a suspended queue or with
    /// unfinished dependencies. If the operation has started, its body is cancelled. The outcome is
    /// `TaskOperationError.timedOut`, or the value that the body returns after its cancellation.
    ///
    /// - Parameter limit: The time. If it is zero or negative, the operation fails when it is added.
    public static func timeout(untilEnd limit: Duration) -> OperationOptions {
        OperationOptions(.endTimeout(.duration(limit)))
    }

    /// Sets the instant by which the operation must have ended. Like `timeout(untilEnd:)`, but for an instant. If the
    /// instant has passed when the operation is added, the operation fails at once, and its body never runs. Also sets
    /// the clock.
    public static func deadline<C: Clock>(
        _ instant: C.Instant, clock: C = ContinuousClock()
    ) -> OperationOptions where C.Duration == Duration {
        [OperationOptions(.endTimeout(TimeFromNow(until: instant, clock))), .clock(clock)]
    }

    /// Limits the time from the start of the body to its end, with all attempts and pauses.
    ///
    /// When the time is over, the body is cancelled. The outcome is `TaskOperationError.timedOut`, which names the
    /// operation. The time begins immediately before the body. If several limits apply, the limit that ends first is
    /// effective. A value that the body returns after its cancellation is the outcome.
    ///
    /// - Parameter limit: The time. If it is zero or negative, the body is cancelled from its beginning.
    public static func timeout(_ limit: Duration) -> OperationOptions {
        OperationOptions(.timeout(limit))
    }

    /// Limits the time of each attempt.
    ///
    /// When the time is over, the call of the body is cancelled. If it then throws an error, the attempt fails with
    /// `TaskOperationError.timedOut`, and `retry(_:)` decides whether another attempt follows. If it returns a value, the
    /// attempt has succeeded. With this option, the body runs in a child task.
    ///
    /// - Parameter limit: The time. If it is zero or negative, the body is cancelled from its beginning.
    public static func timeout(perAttempt limit: Duration) -> OperationOptions {
        OperationOptions(.attemptTimeout(limit))
    }

    /// Sets the rule for a body that ignores its cancellation after `timeout(_:)` or `timeout(untilEnd:)`. The default
    /// is `.wait`.
    public static func overrun(_ overrun: TimeoutOverrun) -> OperationOptions {
        OperationOptions(.overrun(overrun))
    }

    /// Runs the body again after failures. `RetryPolicy.attempt` is the number of the current attempt.
    ///
    /// In a pause between attempts, the operation lends the permits of its limits, for each rule of lending. It lends
    /// the permit of its queue unless `lending` is `.never`. A serial queue with `.never` therefore keeps its order
    /// over all attempts; with any other rule, later operations may run during a pause.
    public static func retry(_ policy: RetryPolicy) -> OperationOptions { OperationOptions(.retry(policy)) }

    /// Sets the clock that measures the operation's delay, limits and pauses. The default is a `ContinuousClock`.
    public static func clock(_ clock: any Clock<Duration>) -> OperationOptions { OperationOptions(.clock(clock)) }

    private static var highestWeight: Int { Int(Int16.max) }
}

/// The rule for an operation whose body ignores its cancellation after a timeout has passed.
public enum TimeoutOverrun: Sendable {
    /// The operation ends when its body ends. Dependents, and tasks that await the operation, wait until then.
    ///
    /// A value that the body returns is the outcome: its effects have happened. If the body throws an error, the operation
    /// fails with `TaskOperationError.timedOut`, or with the error if the operation was cancelled before its timeout
    /// passed.
    case wait

    /// The operation fails at once, even if it was cancelled before, and its dependents can start. The result of the
    /// body is discarded.
    ///
    /// The body keeps its permit until it has ended. Waits for an empty queue also continue until the body has ended,
    /// although `operationCount` no longer includes the operation.
    case abandon
}
