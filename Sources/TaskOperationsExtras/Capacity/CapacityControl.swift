/// The operations of a window, in numbers.
struct CapacityWindow: Hashable, Sendable {
    /// The mean latency in seconds, finite and positive; nil if no operation has completed.
    var latency: Double?
    /// The fraction of operations that were refused, from 0 to 1.
    var refused = 0.0
    /// The largest number of operations that executed at once.
    var peak: Int
}

/// Computes a capacity, window by window, as a `CapacityRule` requires. It is a pure value without a clock or a lock.
///
/// The capacity always is within the bounds. All numbers remain finite, because latencies enter quotients only, whose
/// range is limited.
package struct CapacityControl: Sendable {
    /// A measurement of the latency without load.
    private struct Probe: Sendable {
        /// The latency at the capacity `above`.
        let latency: Double
        let above: Double
        /// The capacity during the measurement, which is less than `above`.
        let limit: Double
        /// The number of windows of the measurement, with this one.
        let step: Int
    }

    private let rule: CapacityRule
    package let bounds: ClosedRange<Int>
    /// The computed capacity. Its fraction counts in later windows.
    private var limit: Double
    private var probe: Probe?
    /// The latency without load in seconds; nil if it is not known.
    package private(set) var baseline: Double?
    private var windowsSinceProbe = 0
    private var limitAtProbe: Double

    /// - Parameter bounds: The bounds of the capacity; at least 1.
    init(_ rule: CapacityRule, within bounds: ClosedRange<Int>, from capacity: Int) {
        self.rule = rule
        self.bounds = bounds
        limit = Double(min(max(capacity, bounds.lowerBound), bounds.upperBound))
        limitAtProbe = limit
    }

    /// The number of operations that may execute in the next window.
    package var capacity: Int { wholeCapacity(probe?.limit ?? limit) }

    /// Whether the next window measures the latency without load.
    package var isProbing: Bool { probe != nil }

    mutating func advance(_ window: CapacityWindow) {
        if window.refused > rule.toleratedRefusals { return decrease() }
        guard let latency = window.latency else { return }
        switch rule.method {
        case .aimd(let increase, let latencyLimit):
            if let latencyLimit, latency > latencyLimit.inSeconds { return decrease() }
            if window.peak >= capacity { setLimit(limit + Double(increase)) }
        case .gradient(let gradient):
            if let probe {
                advance(probe, latency, gradient)
            } else {
                follow(latency, peak: window.peak, gradient)
            }
        }
    }

    private mutating func decrease() {
        setLimit(Double(capacity) * rule.decrease)
        probe = nil
    }

    private mutating func setLimit(_ newLimit: Double) {
        limit = min(max(newLimit, Double(bounds.lowerBound)), Double(bounds.upperBound))
    }

    private func wholeCapacity(_ limit: Double) -> Int {
        // The upper bound, as a floating-point number, may exceed the largest integer.
        limit >= Double(bounds.upperBound) ? bounds.upperBound : max(bounds.lowerBound, Int(limit))
    }
}

// MARK: - The gradient

extension CapacityControl {
    private mutating func follow(_ latency: Double, peak: Int, _ gradient: CapacityRule.Gradient) {
        guard let baseline else { return beginProbe(latency, peak: peak) }
        // The other system has become faster.
        if latency < 0.7 * baseline { return beginProbe(latency, peak: peak) }
        let factor = min(max(baseline / latency, 0.5), 1)
        let change = limit * (factor + gradient.headroom - 1)
        if change < 0 || peak >= capacity { setLimit(limit + gradient.smoothing * change) }
        windowsSinceProbe += 1
        if windowsSinceProbe >= gradient.probeInterval || limit < 0.6 * limitAtProbe {
            beginProbe(latency, peak: peak)
        }
    }

    /// Begins to measure the latency without load. If the capacity cannot be lowered, `latency` is the result.
    private mutating func beginProbe(_ latency: Double, peak: Int) {
        // A capacity above the number of operations has no effect, so the first step begins at this number.
        lower(from: min(limit, Double(peak)), latency, step: 1)
    }

    private mutating func lower(from above: Double, _ latency: Double, step: Int) {
        let lowered = max(Double(bounds.lowerBound), above * 0.7)
        if wholeCapacity(lowered) >= wholeCapacity(above) { return endProbe(latency) }
        probe = Probe(latency: latency, above: above, limit: lowered, step: step)
    }

    /// Ends a measurement if the latency has not fallen with the capacity; otherwise lowers the capacity again.
    private mutating func advance(_ probe: Probe, _ latency: Double, _ gradient: CapacityRule.Gradient) {
        let ratio = Double(wholeCapacity(probe.limit)) / Double(wholeCapacity(probe.above))
        // If operations wait in the other system, the latency is proportional to the capacity. If the latency has risen
        // instead, the load has changed during the measurement.
        let isSteady = latency / probe.latency >= (1 + ratio) / 2 && latency / probe.latency <= 1.15
        if !isSteady { return lower(from: probe.limit, latency, step: probe.step + 1) }
        if probe.step > 1 { setLimit(min(limit, probe.above * (1 + gradient.headroom))) }
        endProbe(latency)
    }

    private mutating func endProbe(_ latency: Double) {
        if let baseline, latency / baseline > 0.75, latency / baseline < 1.33 {
            self.baseline = (baseline + latency) / 2
        } else {
            baseline = latency
        }
        probe = nil
        windowsSinceProbe = 0
        limitAtProbe = limit
    }
}

extension Duration {
    /// The duration in seconds, rounded.
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
