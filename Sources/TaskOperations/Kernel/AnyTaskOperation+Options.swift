import Synchronization

// Options are stored unchanged until the operation is added to a queue. The queue's defaults then supply the options
// that are not set.

extension AnyTaskOperation {
    /// Adds options to an existing operation.
    ///
    /// ```swift
    /// try operation.addOptions([.weight(2), .limit(database)])
    /// try queue.addOperation(operation)
    /// ```
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue or started. The options then do
    ///   not change.
    public func addOptions(_ options: OperationOptions) throws(TaskOperationError) {
        let replaced = record.withLock { record -> [OptionSetting]? in
            if record.wasSubmitted || phase != .created { return nil }
            var replaced: [OptionSetting] = []
            record.add(options, &replaced)
            return replaced
        }
        // Released after unlocking, because the values may be the last references to objects of the user.
        extendLifetime(replaced)
        if replaced == nil { throw .alreadyAdded(OperationLabel(self)) }
    }

    /// The number of permits that the body takes from its queue while it executes. See `OperationOptions.weight(_:)`.
    public var weight: Int { record.withLock { Int($0.weight) } }

    /// The semaphores that limit the operation, in the order in which their permits are taken. The operation takes permits
    /// of each semaphore. See `OperationOptions.limit(_:)`.
    public var limits: [AsyncSemaphore] { limitRequests.map(\.limit) }

    /// Whether the operation takes permits of a key of a semaphore. False if the operation has ended, and for a key that is
    /// nil.
    ///
    /// ```swift
    /// for operation in queue.operations where operation.isLimited(by: hosts, key: "example.com") {
    ///     operation.cancel()
    /// }
    /// ```
    public func isLimited(by limit: AsyncSemaphore, key: (some Hashable & Sendable)?) -> Bool {
        guard let key = limit.interned(key) else { return false }
        defer { extendLifetime(key) }
        return limitRequests.contains { $0.limit === limit && $0.key?.number == key.number }
    }

    /// The limits of the operation, in the order in which they are taken.
    var limitRequests: [LimitRequest] { record.withLock { $0.links?.limits ?? [] } }

    /// The limits because of which the operation was refused when it was added.
    var refusingLimits: [LimitRequest] { (finalOutcome as? LimitRefusal)?.limits ?? [] }

    /// The options of the operation, completed by the defaults of its queue.
    var completedOptions: OptionValues {
        let (options, scheduler) = record.withLock { ($0.options, $0.scheduler) }
        return OptionValues(options, defaults: scheduler?.defaults)
    }

    /// Starts the delays and limits that begin when the operation is added. Called when a queue has accepted the
    /// operation and cannot start it yet.
    ///
    /// - Parameter hasDefaults: Whether the queue has default options.
    func beginOptions(hasDefaults: Bool) {
        // Operations that only have limits do not read their other options: Cost, row 20.
        let (isTimed, limits) = record.withLock { ($0.hasTimedOptions, $0.links?.limits ?? []) }
        endIfTooHeavy(for: limits)
        takeRoom(in: limits)
        if !isTimed, !hasDefaults { return }
        let options = completedOptions
        if options.wrapsBody { wrapBody(in: options.body) }
        guard options.beginsAtAddition, !isFinished else { return }
        if let delay = options.delay?.remaining { beginDelay(delay, on: options.body.clock) }
        if options.startTimeout != nil || options.endTimeout != nil { beginTimeouts(options) }
    }

    /// Ends the operation with an error if a limit has never had as many permits as the operation needs.
    private func endIfTooHeavy(for limits: [LimitRequest]) {
        for request in limits {
            guard let error = request.limit.excess(request.weight, hasKey: request.key != nil) else { continue }
            endUnlessStarted(LimitRefusal(error, limits: limits))
            return
        }
    }

    /// Reverts `beginOptions`, because the scheduler refused the operation.
    func revokeOptions() {
        let (startTimeout, endTimeout, room, isDelayed) = record.withLock { record in
            if record.wrapping == .wrapped { record.wrapping = .outdated }
            let links = record.links
            return (links?.startTimeout.take(), links?.endTimeout.take(), links?.extras?.room.take(), record.isDelayed)
        }
        startTimeout?.endTimer()
        endTimeout?.endTimer()
        room?.giveBack()
        if isDelayed { Deadlines.remove(self) }
    }
}

extension OperationRecord {
    /// Adds options to the operation's options. Reads only the options that the record keeps.
    ///
    /// - Parameter replaced: Receives the replaced values.
    mutating func add(_ added: OperationOptions, _ replaced: inout [OptionSetting]) {
        var (isLasting, addsLimits) = (false, false)
        // By index: an iterator would copy each option.
        for index in added.settings.indices {
            switch added.settings[index] {
            case .priority(let rawValue):
                level = PriorityLevel(TaskPriority(rawValue: rawValue))
                isPriorityGiven = true
            case .weight(let weight): self.weight = UInt16(weight)
            case .limits: addsLimits = true
            case .delay, .startTimeout, .endTimeout, .timeout, .attemptTimeout, .retry: hasTimedOptions = true
            case .overrun, .clock: break
            }
            if added.settings[index].isLasting { isLasting = true }
        }
        if !isLasting { return }
        if options == nil { options = added } else { options!.add(added, &replaced) }
        if !addsLimits { return }
        if hasLimits {
            links!.limits.insert(inOrder: added.limits)
        } else {
            madeLinks().limits = added.limits.ordered
        }
    }

    /// Updates the weight, the limits and the priority from the operation's options. The defaults of a queue supply
    /// options that are not set.
    ///
    /// - Parameter defaults: The defaults of the queue; nil if the operation has left the queue.
    mutating func complete(by defaults: OperationOptions?) {
        let values = OptionValues(options, defaults: defaults)
        weight = UInt16(values.weight ?? 1)
        if hasLimits || !values.limits.isEmpty { madeLinks().limits = values.limits.ordered }
        if !isPriorityGiven { level = values.level ?? .default }
    }
}

/// One option with its value. The largest values are indirect, so that an option takes 24 bytes instead of 48.
enum OptionSetting: Sendable {
    /// The compiler does not know the size of a `TaskPriority`. With the raw value, options are copied without calls of
    /// the runtime for each property.
    case priority(rawValue: UInt8)
    case weight(Int)
    case limits([LimitRequest])
    case delay(TimeFromNow)
    case startTimeout(TimeFromNow)
    case endTimeout(TimeFromNow)
    case timeout(Duration)
    case attemptTimeout(Duration)
    case overrun(TimeoutOverrun)
    indirect case retry(RetryPolicy)
    indirect case clock(any Clock<Duration>)

    /// The number of the option.
    var kind: Int {
        switch self {
        case .priority: 0
        case .weight: 1
        case .limits: 2
        case .delay: 3
        case .startTimeout: 4
        case .endTimeout: 5
        case .timeout: 6
        case .attemptTimeout: 7
        case .overrun: 8
        case .retry: 9
        case .clock: 10
        }
    }

    /// Whether an operation still needs the option after its creation.
    var isLasting: Bool {
        switch self {
        case .priority: false
        default: true
        }
    }
}

/// The value of each option. Nil and empty mean that the option is not set.
struct OptionValues: Sendable {
    private var priorityRawValue: UInt8?
    private(set) var weight: Int?
    private(set) var limits: [LimitRequest] = []
    private(set) var delay: TimeFromNow?
    private(set) var startTimeout: TimeFromNow?
    private(set) var endTimeout: TimeFromNow?
    private(set) var body = BodyOptions()

    /// Reads options in their order. A later value replaces an earlier one, except for limits.
    ///
    /// - Parameter defaults: The options of the queue, which are read first.
    init(_ options: OperationOptions?, defaults: OperationOptions? = nil) {
        if let defaults { apply(defaults) }
        if let options { apply(options) }
    }

    private mutating func apply(_ options: OperationOptions) {
        for setting in options.settings { apply(setting) }
    }

    private mutating func apply(_ setting: OptionSetting) {
        switch setting {
        case .priority(let rawValue): priorityRawValue = rawValue
        case .weight(let weight): self.weight = weight
        case .limits(let limits): self.limits = self.limits.isEmpty ? limits : self.limits + limits
        case .delay(let delay): self.delay = delay
        case .startTimeout(let limit): startTimeout = limit
        case .endTimeout(let limit): endTimeout = limit
        case .timeout(let limit): body.timeout = limit
        case .attemptTimeout(let limit): body.attemptTimeout = limit
        case .overrun(let overrun): body.overrun = overrun
        case .retry(let policy): body.retry = policy
        case .clock(let clock): body.clock = clock
        }
    }

    var level: PriorityLevel? { priorityRawValue.map { PriorityLevel(TaskPriority(rawValue: $0)) } }

    /// Whether an operation takes one permit of its queue, and no permit of a semaphore.
    var takesOnePermit: Bool { weight ?? 1 == 1 && limits.isEmpty }

    /// Whether an option starts a timer when the operation is added.
    var beginsAtAddition: Bool { delay != nil || startTimeout != nil || endTimeout != nil }

    /// Whether an option wraps the body.
    var wrapsBody: Bool { body.retry != nil || body.timeout != nil || body.attemptTimeout != nil || endTimeout != nil }
}

/// The values of the options that the body needs. Delays and timeouts use the clock, too.
struct BodyOptions: Sendable {
    var retry: RetryPolicy?
    var timeout: Duration?
    var attemptTimeout: Duration?
    var overrun: TimeoutOverrun?
    var clock: any Clock<Duration> = ContinuousClock()
}

/// A duration, or the time that remains until an instant.
enum TimeFromNow: Sendable {
    case duration(Duration)
    case instant(remaining: @Sendable () -> Duration)

    init<C: Clock>(until instant: C.Instant, _ clock: C) where C.Duration == Duration {
        self = .instant {
            let now = clock.now
            return instant <= now ? .zero : now.duration(to: instant)
        }
    }

    var remaining: Duration {
        switch self {
        case .duration(let duration): duration
        case .instant(let remaining): remaining()
        }
    }
}
