/// A rule that finds the number of operations that another system can execute at once.
///
/// A rule divides time into windows. At the end of each window, it computes the next capacity from the latencies and the
/// refusals of the operations in the window. `AdaptiveCapacity` applies a rule to a queue or to a semaphore.
///
/// | property | `gradient()` | `aimd()` |
/// |---|---|---|
/// | increase of the capacity | by up to 5 % a window | by 1 a window |
/// | decrease of the capacity | if latencies increase; if operations are refused | if operations are refused, or exceed a given latency |
/// | `window` | 500 ms | 500 ms |
/// | `sampleCount` | 50 | 50 |
/// | `decrease` | 0.8 | 0.8 |
/// | `toleratedRefusals` | 0.01 | 0.01 |
///
/// With either rule, the capacity only increases if a window has used all of it. A number outside the range of a property
/// counts as the nearest number in the range, and NaN counts as the default.
public struct CapacityRule: Hashable, Sendable {
    enum Method: Hashable, Sendable {
        case gradient(Gradient)
        case aimd(increase: Int, latencyLimit: Duration?)
    }

    struct Gradient: Hashable, Sendable {
        let headroom: Double
        let smoothing: Double
        let probeInterval: Int
    }

    let method: Method

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

    /// The fraction of refused operations that a rule ignores, from 0 to 1.
    public var toleratedRefusals: Double {
        get { storedTolerance }
        set { storedTolerance = newValue.clamped(to: 0...1, ifNaN: 0.01) }
    }

    private var storedDecrease = 0.8
    private var storedTolerance = 0.01

    private init(_ method: Method) { self.method = method }
}

extension CapacityRule {
    /// Keeps the latency near the latency without load. It needs no refusals and no configured latency.
    ///
    /// If the latency is *n* times the latency without load, one of *n* operations is executed and the others wait in the
    /// other system. The rule multiplies the capacity by this gradient 1/*n*, but at least by 0.5, and by 1 + `headroom`,
    /// so that the capacity can increase. Without noise, the capacity becomes the true capacity times 1 + `headroom`.
    /// Netflix's concurrency-limits (`Gradient2Limit`) and the adaptive concurrency filter of Envoy use such a gradient.
    ///
    /// A steady queue in the other system would otherwise count as the latency without load, and the capacity would
    /// drift upwards. So the rule measures this latency regularly: it lowers the capacity to 70 %, and again, until the
    /// latency no longer decreases. The first result, and a result that differs from the known latency by more than
    /// about 30 %, needs a second step in which the latency does not decrease. Envoy measures at a fixed small capacity,
    /// and TCP BBR at four packets (Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based Congestion
    /// Control", ACM Queue 2016). The rule also measures after the capacity has decreased by 40 %. If the latency has
    /// not followed the capacity, then the other system has become slower, not smaller.
    ///
    /// - Parameters:
    ///   - headroom: The number of operations that may wait in the other system, as a part of its true capacity; from
    ///     0.01 to 0.5.
    ///   - smoothing: The part of a computed change that takes effect, from 0.05 to 1. A smaller number tolerates more
    ///     noise, and needs more windows.
    ///   - probeInterval: The number of windows from one measurement of the latency without load to the next; at least
    ///     10. Most measurements take one or two windows.
    public static func gradient(
        headroom: Double = 0.1, smoothing: Double = 0.5, probeInterval: Int = 50
    ) -> CapacityRule {
        CapacityRule(
            .gradient(
                Gradient(
                    headroom: headroom.clamped(to: 0.01...0.5, ifNaN: 0.1),
                    smoothing: smoothing.clamped(to: 0.05...1, ifNaN: 0.5), probeInterval: max(10, probeInterval))))
    }

    /// Increases the capacity in equal steps, and multiplies it by `decrease` after a window with refusals.
    ///
    /// The rule is that of TCP congestion avoidance (Chiu and Jain, "Analysis of the Increase and Decrease Algorithms
    /// for Congestion Avoidance in Computer Networks", Computer Networks and ISDN Systems 1989). Several clients of one
    /// server converge to equal shares, which a gradient of latencies does not guarantee. The rule needs a server that
    /// refuses operations, or a latency limit.
    ///
    /// - Parameters:
    ///   - increase: The number of permits that a window without refusals adds; at least 1.
    ///   - latencyLimit: The mean latency above which a window counts as refused; nil for no limit.
    public static func aimd(increase: Int = 1, latencyLimit: Duration? = nil) -> CapacityRule {
        CapacityRule(.aimd(increase: max(1, increase), latencyLimit: latencyLimit))
    }
}

extension Double {
    func clamped(to range: ClosedRange<Double>, ifNaN replacement: Double) -> Double {
        isNaN ? replacement : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
