/// A rule that finds the number of operations that another system can execute at once.
///
/// The rule keeps the latency of operations near their latency without load. It needs no refusals and no configured
/// latency. `AdaptiveCapacity` applies it to a queue or to a semaphore.
///
/// The rule divides time into windows. At the end of each window, it computes the next capacity from the latencies and
/// the refusals of the operations in the window. If the latency is *n* times the latency without load, one of *n*
/// operations is executed and the others wait in the other system. The rule multiplies the capacity by this gradient
/// 1/*n*, but at least by 0.5, and by 1 + `headroom`, so that the capacity can increase. Without noise, the capacity
/// becomes the true capacity times 1 + `headroom`. Netflix's concurrency-limits (`Gradient2Limit`) and the adaptive
/// concurrency filter of Envoy use such a gradient. After a window with refusals, the rule multiplies the capacity by
/// `decrease`. The rule increases the capacity only after a window in which the whole capacity was in use.
///
/// A steady queue in the other system would otherwise count as the latency without load, and the capacity would drift
/// upwards. So the rule measures this latency regularly: it lowers the capacity to 70 %, and again, until the latency no
/// longer decreases. The first result, and a result that differs from the known latency by more than about 30 %, needs a
/// second step in which the latency does not decrease. Envoy measures at a fixed small capacity, and TCP BBR at four
/// packets (Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 2016).
/// The rule also measures after the capacity has decreased by 40 %. If the latency has not followed the capacity, then
/// the other system has become slower, not smaller.
///
/// A number outside the range of a property counts as the nearest number in the range, and NaN counts as the default.
public struct CapacityRule: Hashable, Sendable {
    /// The number of operations that may wait in the other system, as a part of its true capacity; from 0.01 to 0.5.
    public var headroom: Double {
        get { storedHeadroom }
        set { storedHeadroom = newValue.clamped(to: 0.01...0.5, ifNaN: 0.1) }
    }

    /// The part of a computed change that takes effect, from 0.05 to 1. A smaller number tolerates more noise, and needs
    /// more windows.
    public var smoothing: Double {
        get { storedSmoothing }
        set { storedSmoothing = newValue.clamped(to: 0.05...1, ifNaN: 0.5) }
    }

    /// The number of windows from one measurement of the latency without load to the next; at least 10. Most
    /// measurements take one or two windows.
    public var probeInterval = 50

    /// The shortest duration of a window; not negative. If operations take long, a window lasts at least four times as
    /// long as an operation without load, but at most eight times as long as this duration.
    public var window = Duration.milliseconds(500)

    /// The number of operations that must end in a window; at least 1. A window with fewer operations continues.
    /// A measurement of the latency without load takes four times as many.
    public var sampleCount = 50

    /// The factor for the capacity after a window with refusals, from 0.1 to 0.99.
    public var decrease: Double {
        get { storedDecrease }
        set { storedDecrease = newValue.clamped(to: 0.1...0.99, ifNaN: 0.8) }
    }

    /// The fraction of refused operations that the rule ignores, from 0 to 1.
    public var toleratedRefusals: Double {
        get { storedTolerance }
        set { storedTolerance = newValue.clamped(to: 0...1, ifNaN: 0.01) }
    }

    private var storedHeadroom = 0.1
    private var storedSmoothing = 0.5
    private var storedDecrease = 0.8
    private var storedTolerance = 0.01

    /// Creates a rule with the default of each property: a headroom of 0.1, a smoothing of 0.5, a measurement every 50
    /// windows, windows of 500 ms with 50 operations, a decrease to 0.8, and 0.01 tolerated refusals.
    public init() {}
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>, ifNaN replacement: Double) -> Double {
        isNaN ? replacement : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
