/// One option with its value. The largest values are indirect, so that an option takes 24 bytes instead of 48.
enum OptionSetting: Sendable {
    case name(String)
    /// The compiler does not know the size of a `TaskPriority`. With the raw value, options are copied without calls of
    /// the runtime for each property.
    case priority(rawValue: UInt8)
    case weight(Int)
    case limits([LimitRequest])
    case dependencies([AnyTaskOperation])
    case delay(TimeFromNow)
    case startLimit(TimeFromNow)
    case endLimit(TimeFromNow)
    case timeLimit(Duration)
    case attemptTimeLimit(Duration)
    case overrun(TimeLimitOverrun)
    indirect case retry(RetryPolicy)
    indirect case clock(any Clock<Duration>)

    /// Whether an operation still needs the option after its creation.
    var isLasting: Bool {
        switch self {
        case .name, .priority, .dependencies: false
        default: true
        }
    }
}

/// The value of each option. Nil and empty mean that the option is not set.
package struct OptionValues: Sendable {
    package private(set) var name: String?
    private var priorityRawValue: UInt8?
    private(set) var weight: Int?
    private(set) var limits: [LimitRequest] = []
    private(set) var dependencies: [AnyTaskOperation] = []
    package private(set) var delay: TimeFromNow?
    private(set) var startLimit: TimeFromNow?
    private(set) var endLimit: TimeFromNow?
    private(set) var timeLimit: Duration?
    private(set) var attemptTimeLimit: Duration?
    package private(set) var overrun: TimeLimitOverrun?
    private(set) var retry: RetryPolicy?
    private(set) var clock: (any Clock<Duration>)?

    /// Reads options in their order. A later value replaces an earlier one, except for limits and dependencies.
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
        case .name(let name): self.name = name
        case .priority(let rawValue): priorityRawValue = rawValue
        case .weight(let weight): self.weight = weight
        case .limits(let limits): self.limits = self.limits.isEmpty ? limits : self.limits + limits
        case .dependencies(let dependencies): self.dependencies += dependencies
        case .delay(let delay): self.delay = delay
        case .startLimit(let limit): startLimit = limit
        case .endLimit(let limit): endLimit = limit
        case .timeLimit(let limit): timeLimit = limit
        case .attemptTimeLimit(let limit): attemptTimeLimit = limit
        case .overrun(let overrun): self.overrun = overrun
        case .retry(let policy): retry = policy
        case .clock(let clock): self.clock = clock
        }
    }

    package var priority: TaskPriority? { priorityRawValue.map { TaskPriority(rawValue: $0) } }

    /// Whether an operation takes one permit of its queue, and no permit of a semaphore.
    var takesOnePermit: Bool { weight ?? 1 == 1 && limits.isEmpty }

    /// Whether an option starts a timer when the operation is added.
    var beginAtAddition: Bool { delay != nil || startLimit != nil || endLimit != nil }

    /// Whether an option wraps the body.
    var surroundBody: Bool { retry != nil || timeLimit != nil || attemptTimeLimit != nil || endLimit != nil }

    package var chosenClock: any Clock<Duration> { clock ?? ContinuousClock() }
}

/// A duration, or the time that remains until an instant.
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
