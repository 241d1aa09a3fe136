public import Dispatch
internal import Synchronization
internal import TaskOperations

/// One or more deadlines of a timer that have passed.
public struct DispatchTimerTick: Sendable, Equatable {
    /// The number of the latest deadline that has passed. The first deadline has number 0.
    public let index: Int

    /// The number of deadlines that have passed since the last tick. It is more than 1 if the iteration was late.
    public let count: Int

    /// The time of the latest deadline that has passed. It is the first deadline plus `index` intervals.
    public let deadline: DispatchTime
}

extension DispatchSource {
    /// Returns a sequence that ticks at a deadline, and then at regular intervals. All ticks are measured from the
    /// first deadline, so that they do not drift if the loop is late. Deadlines that pass while no task waits become
    /// one tick. Without an interval, the sequence ends after one tick.
    ///
    /// ```swift
    /// for await tick in DispatchSource.timerEvents(deadline: .now(), repeating: .seconds(1)) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - flags: Pass `.strict` to enforce the leeway.
    ///   - deadline: The time of the first tick.
    ///   - interval: The time between two deadlines, at least a nanosecond.
    ///   - leeway: The maximum time by which the system may delay a tick to save energy.
    public static func timerEvents(
        flags: TimerFlags = [], deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) -> DispatchSourceEvents<DispatchTimerTick> {
        let source = makeTimerSource(flags: flags, queue: bridgeQueue)
        source.schedule(deadline: deadline, repeating: interval, leeway: leeway)
        let nanoseconds = interval.nanoseconds
        require(nanoseconds ?? 1 > 0, "The interval of a timer is \(interval); it must be at least a nanosecond.")
        let passed = Lock(0)
        return DispatchSourceEvents(
            SourceSubscription(source, isSingle: nanoseconds == nil) { data in
                let total = passed.withLock { passed in
                    passed += Int(data)
                    return passed
                }
                return DispatchTimerTick(
                    index: total - 1, count: Int(data),
                    deadline: deadline + .nanoseconds((total - 1) * (nanoseconds ?? 0)))
            })
    }
}

extension DispatchTimeInterval {
    /// The length of the interval in nanoseconds; nil for `.never`.
    fileprivate var nanoseconds: Int? {
        switch self {
        case .seconds(let count): Self.product(count, 1_000_000_000)
        case .milliseconds(let count): Self.product(count, 1_000_000)
        case .microseconds(let count): Self.product(count, 1_000)
        case .nanoseconds(let count): count
        case .never: nil
        @unknown default: nil
        }
    }

    /// Returns the product, clamped to the range of `Int` as in Dispatch.
    private static func product(_ count: Int, _ unit: Int) -> Int {
        let (product, isOver) = count.multipliedReportingOverflow(by: unit)
        return isOver ? (count < 0 ? .min : .max) : product
    }
}
