/// Options of an operation. Each function that creates or adds an operation takes one value of this type.
///
/// Each option is a static function. An array literal combines options, as for an `OptionSet`; an element may itself be a
/// combination that was stored before.
///
/// ```swift
/// let network: OperationOptions = [
///     .limited(by: connections), .retry(.exponential(initial: .milliseconds(200), attempts: 5)), .timeLimit(.seconds(20)),
/// ]
/// queue.addOperation([network, .name(url.path)]) { try await load(url) }
/// queue.addOperation([.weight(3), .starting(within: .seconds(30))], after: data) { try decode($0) }
/// ```
///
/// Limits and dependencies add up. For every other option, the last element of a combination counts. An operation gets the
/// options that it lacks from `TaskOperationQueue.Configuration.defaults`.
///
/// ## Order
///
/// Policies apply in a fixed order, which does not depend on the order of the options. From the outside in:
///
/// 1. `ending(within:)` covers everything from the addition to the end of the body.
/// 2. `starting(within:)` covers the time from the addition to the start.
/// 3. `delay(_:)`, then `dependencies(_:)`, hold the operation back before it competes for permits.
/// 4. The operation takes its permits (`weight(_:)`, `limited(by:)`) and a token of the queue's rate in one step, and starts.
/// 5. `timeLimit(_:)` covers the body with all attempts and pauses.
/// 6. `retry(_:)` repeats what follows. Between attempts, the operation lends its permits. Each attempt takes a token.
/// 7. `attemptTimeLimit(_:)` covers one call of the body.
public struct OperationOptions: Sendable {
    /// The options that are set; nil if there are none. One reference, so that an operation without options pays nothing.
    private var box: Box?

    private indirect enum Box: Sendable {
        case values(OptionValues)
    }

    /// Creates options that change nothing.
    public init() {}

    private init(_ change: (inout OptionValues) -> Void) {
        var values = OptionValues()
        change(&values)
        box = .values(values)
    }

    /// The options that apply after the creation of an operation.
    var lasting: OperationOptions {
        var values = values
        (values.name, values.priority, values.dependencies) = (nil, nil, [])
        return values.last ? OperationOptions { $0 = values } : OperationOptions()
    }

    var isEmpty: Bool { box == nil }

    /// The options of an empty operation that starts when an operation with these options could: its priority, weight and
    /// limits.
    package func ofPlaceholder(named name: String) -> OperationOptions {
        let values = values
        return OperationOptions {
            $0.name = name
            $0.priority = values.priority
            $0.weight = values.weight
            $0.limits = values.limits
        }
    }

    /// Whether an operation takes one permit of its queue and no others.
    package var takesOnePermit: Bool { values.weight ?? 1 == 1 && values.limits.isEmpty }

    package var values: OptionValues { if case .values(let values) = box { values } else { OptionValues() } }

    /// Adds options, which replace those that are set already; limits and dependencies are added.
    mutating func add(_ other: OperationOptions) {
        if isEmpty {
            self = other
        } else if !other.isEmpty {
            var values = values
            values.add(other.values)
            box = .values(values)
        }
    }

    /// These options, completed by the defaults of a queue.
    func completed(by defaults: OperationOptions?) -> OperationOptions {
        guard var completed = defaults else { return self }
        completed.add(self)
        return completed
    }
}

/// The values of options.
package struct OptionValues: Sendable {
    package var name: String?
    package var priority: TaskPriority?
    var weight: Int?
    var limits: [AsyncSemaphore] = []
    var dependencies: [AnyTaskOperation] = []
    package var delay: TimeFromNow?
    var startLimit: TimeFromNow?
    var endLimit: TimeFromNow?
    var timeLimit: Duration?
    var attemptTimeLimit: Duration?
    var overrun: TimeLimitOverrun?
    var retry: RetryPolicy?
    var clock: (any Clock<Duration>)?

    mutating func add(_ other: OptionValues) {
        name = other.name ?? name
        priority = other.priority ?? priority
        weight = other.weight ?? weight
        limits += other.limits
        dependencies += other.dependencies
        delay = other.delay ?? delay
        startLimit = other.startLimit ?? startLimit
        endLimit = other.endLimit ?? endLimit
        timeLimit = other.timeLimit ?? timeLimit
        attemptTimeLimit = other.attemptTimeLimit ?? attemptTimeLimit
        overrun = other.overrun ?? overrun
        retry = other.retry ?? retry
        clock = other.clock ?? clock
    }

    /// Whether anything but the name, the priority and dependencies is set.
    var last: Bool {
        weight != nil || !limits.isEmpty || beginAtAddition || surroundBody || overrun != nil || clock != nil
    }

    /// Whether something begins when the operation is added.
    var beginAtAddition: Bool { delay != nil || startLimit != nil || endLimit != nil }

    /// Whether something surrounds the body.
    var surroundBody: Bool { retry != nil || timeLimit != nil || attemptTimeLimit != nil || endLimit != nil }

    /// The limits, each once, in the order in which the semaphores were made.
    var orderedLimits: [AsyncSemaphore] {
        if limits.count < 2 { return limits }
        var ordered: [AsyncSemaphore] = []
        for limit in limits.sorted(by: { $0.number < $1.number }) where ordered.last !== limit { ordered.append(limit) }
        return ordered
    }

    package var chosenClock: any Clock<Duration> { clock ?? ContinuousClock() }
}

extension OperationOptions: ExpressibleByArrayLiteral {
    /// Combines options. Limits and dependencies add up; for every other option the last one counts.
    public init(arrayLiteral elements: OperationOptions...) {
        for element in elements { add(element) }
    }
}

/// A time from the moment at which it is asked for.
package enum TimeFromNow: Sendable {
    case duration(Duration)
    case instant(remaining: @Sendable () -> Duration)

    init<C: Clock>(until instant: C.Instant, _ clock: C) where C.Duration == Duration {
        self = .instant {
            let now = clock.now
            return instant <= now ? .zero : now.duration(to: instant)
        }
    }

    package var remaining: Duration {
        switch self {
        case .duration(let duration): duration
        case .instant(let remaining): remaining()
        }
    }
}

// MARK: - Identity and start

extension OperationOptions {
    /// Names the operation in messages, descriptions and events.
    public static func name(_ name: String) -> OperationOptions { OperationOptions { $0.name = name } }

    /// Sets the priority: it orders the operation among the ready operations of its queue, and is the priority of its task.
    ///
    /// An operation without this option has the priority of the queue's default options, or of the group that it is added
    /// to; otherwise `.medium`. The priority of the task that adds an operation never counts. Operations and tasks that wait
    /// for an operation raise it to their own priority.
    public static func priority(_ priority: TaskPriority) -> OperationOptions {
        OperationOptions { $0.priority = priority }
    }

    /// Sets how many permits of its queue the body takes while it executes; 1 without this option.
    ///
    /// An operation that takes more permits than its queue has runs alone. No operation of the same or a lower priority
    /// overtakes an operation that waits for permits, so that it does not starve.
    ///
    /// - Parameter weight: The number of permits, from 1 to 32,767. Any other number stops the process with a message.
    public static func weight(_ weight: Int) -> OperationOptions {
        require((1...highestWeight).contains(weight), "weight is \(weight); it must be from 1 to \(highestWeight).")
        return OperationOptions { $0.weight = weight }
    }

    /// Adds semaphores that the operation shares with operations of any queue and with callers of `withPermit`.
    ///
    /// The operation starts when its queue and all of these have a permit. It takes all permits in one step, and releases
    /// those of the semaphores when its body has ended. A semaphore with one permit is mutual exclusion.
    ///
    /// ```swift
    /// let database = AsyncSemaphore(capacity: 1)
    /// reads.addOperation(.limited(by: database, network)) { … }
    /// writes.addOperation(.limited(by: database)) { … }
    /// try await database.withPermit { … }
    /// ```
    ///
    /// An operation that waits holds no permit. So no order of limits is wrong, and operations behind it start if they do
    /// not need the permit for which it waits. Operations and tasks get permits by priority, then by arrival. While an
    /// operation waits for one limit, others may take another one before it, at most 16 times. Then the limits are kept free
    /// for it, in the order in which the semaphores were created.
    ///
    /// The queue takes its own permits at the same moment, and keeps none free for an operation whose limits are taken.
    /// If the limits of an operation are free only while its queue is full, it waits for as long as that lasts: give it a
    /// queue of its own, or a wider one.
    ///
    /// A body keeps the permits of its limits while it awaits something, also if it lends the permit of its queue. It lends
    /// them during a pause between attempts, and takes all of them back, in one step, before the next attempt. An await
    /// of an operation that needs one of them, directly or through others, throws `TaskOperationError.waitCycle`, even if
    /// the semaphore has more permits: they may be taken when the operation needs one. Permits that a task holds by
    /// `withPermit` are not known to operations: if that task awaits an operation that needs them, both wait forever.
    ///
    /// - Parameter limits: The semaphores. One that is named several times counts once.
    public static func limited(by limits: AsyncSemaphore...) -> OperationOptions { limited(by: limits) }

    /// Adds semaphores that the operation shares with others, as the function for single ones does.
    public static func limited(by limits: [AsyncSemaphore]) -> OperationOptions {
        OperationOptions { $0.limits = limits }
    }

    /// Adds operations that must finish before this one starts, with any outcome.
    public static func dependencies(_ dependencies: [AnyTaskOperation]) -> OperationOptions {
        OperationOptions { $0.dependencies = dependencies }
    }

    /// Holds the operation back for a time from its addition. It then still waits for its dependencies and its turn.
    ///
    /// A delayed operation takes no permit, and a cancellation ends it at once. The time passes on a suspended queue too.
    /// All delays on one clock share one sleeping task. Adding and cancelling are logarithmic in the number of delays that
    /// are pending on the clock. Two clocks of one type that hold the same bytes are one clock.
    ///
    /// - Parameter delay: The time. A duration that is not positive delays nothing.
    public static func delay(_ delay: Duration) -> OperationOptions {
        OperationOptions { $0.delay = .duration(delay) }
    }

    /// Holds the operation back until an instant, as `delay(_:)` does for a duration. Sets the clock, too.
    public static func delay<C: Clock>(
        until instant: C.Instant, clock: C = ContinuousClock()
    ) -> OperationOptions where C.Duration == Duration {
        OperationOptions {
            $0.delay = TimeFromNow(until: instant, clock)
            $0.clock = clock
        }
    }
}

// MARK: - Limits of time, and retries

extension OperationOptions {
    /// Limits the time in the queue: from the addition to the start.
    ///
    /// When the time is over, an operation that has not started fails with `TaskOperationError.notStarted`. Whether it
    /// starts or fails is decided in one step. The time includes delays, and waits for dependencies and for room.
    ///
    /// - Parameter limit: The time; not negative.
    public static func starting(within limit: Duration) -> OperationOptions {
        check(limit, "starting(within:)")
        return OperationOptions { $0.startLimit = .duration(limit) }
    }

    /// Limits the time from the addition to the end of the body.
    ///
    /// When the time is over, an operation that has not started ends at once, on a suspended queue and with unfinished
    /// dependencies too; otherwise its body is cancelled. The outcome is `TaskOperationError.timedOut`.
    ///
    /// - Parameter limit: The time; not negative.
    public static func ending(within limit: Duration) -> OperationOptions {
        check(limit, "ending(within:)")
        return OperationOptions { $0.endLimit = .duration(limit) }
    }

    /// Sets the instant at which the operation must have ended, as `ending(within:)` does for a duration. Sets the clock,
    /// too.
    public static func deadline<C: Clock>(
        _ instant: C.Instant, clock: C = ContinuousClock()
    ) -> OperationOptions where C.Duration == Duration {
        OperationOptions {
            $0.endLimit = TimeFromNow(until: instant, clock)
            $0.clock = clock
        }
    }

    /// Limits the time from the start of the body to its end, with all attempts and pauses.
    ///
    /// When the time is over, the body is cancelled, and the outcome is `TaskOperationError.timedOut`, which names the
    /// operation. The time begins right before the body. Of several limits the earliest counts.
    ///
    /// - Parameter limit: The time; not negative.
    public static func timeLimit(_ limit: Duration) -> OperationOptions {
        check(limit, "timeLimit(_:)")
        return OperationOptions { $0.timeLimit = limit }
    }

    /// Limits the time of each attempt.
    ///
    /// When the time is over, the call of the body is cancelled. After its end the attempt fails with
    /// `TaskOperationError.timedOut`, and `retry(_:)` decides on another one. The body runs in a child task then.
    ///
    /// - Parameter limit: The time; not negative.
    public static func attemptTimeLimit(_ limit: Duration) -> OperationOptions {
        check(limit, "attemptTimeLimit(_:)")
        return OperationOptions { $0.attemptTimeLimit = limit }
    }

    /// Sets the rule for a body that ignores its cancellation after `timeLimit(_:)` or `ending(within:)`; `.wait` without
    /// this option.
    public static func overrun(_ overrun: TimeLimitOverrun) -> OperationOptions {
        OperationOptions { $0.overrun = overrun }
    }

    /// Has the body run again after failures. `RetryPolicy.attempt` is the number of the attempt.
    public static func retry(_ policy: RetryPolicy) -> OperationOptions { OperationOptions { $0.retry = policy } }

    /// Sets the clock that measures the operation's delay, limits and pauses; a `ContinuousClock` without this option.
    public static func clock(_ clock: any Clock<Duration>) -> OperationOptions { OperationOptions { $0.clock = clock } }

    private static var highestWeight: Int { Int(Int16.max) }

    private static func check(_ limit: Duration, _ name: String) {
        require(
            limit >= .zero, "The limit of \(name) is \(limit); it must not be negative. Leave the option out instead.")
    }
}
