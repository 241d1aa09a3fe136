import TaskOperations

/// The operations of a window, in numbers.
struct CapacityWindow: Hashable, Sendable {
    /// The mean latency in seconds, finite and positive; nil if no operation has completed.
    var latency: Double?
    /// The fraction of operations that were refused, from 0 to 1.
    var refused = 0.0
    /// The largest number of operations that executed at once.
    var peak: Int
}

/// Computes a capacity, window by window, as its `CapacityRule` requires. It is a pure value without a clock or a lock.
///
/// The capacity always is within the bounds. All numbers remain finite, because latencies enter quotients only, whose
/// range is limited.
package struct CapacityControl: Sendable {
    /// A measurement of the latency without load, in a window with a lower capacity than `above`.
    private struct Probe: Sendable {
        /// The latency at the capacity `above`.
        let latency: Double
        let above: Double
        /// The largest capacity from which the latency has not decreased in the windows before this one; nil if it has
        /// decreased in the last one, or if this is the first window.
        var steadyFrom: Double?
        /// Whether the latency has decreased in an earlier window.
        var wasLoaded = false
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
    package var capacity: Int { wholeCapacity(probe.map { lowered($0.above) } ?? limit) }

    /// Whether the next window measures the latency without load.
    package var isProbing: Bool { probe != nil }

    mutating func advance(_ window: CapacityWindow) {
        if window.refused > rule.toleratedRefusals { return decrease() }
        guard let latency = window.latency else { return }
        if let probe {
            advance(probe, latency)
        } else {
            follow(latency, peak: window.peak)
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
    private mutating func follow(_ latency: Double, peak: Int) {
        // A capacity above the number of operations has no effect, so a measurement begins at this number.
        func measure() { lower(Probe(latency: latency, above: min(limit, Double(peak)))) }
        guard let baseline else { return measure() }
        // The other system has become faster.
        if latency < 0.7 * baseline { return measure() }
        let factor = min(max(baseline / latency, 0.5), 1)
        let change = limit * (factor * (1 + rule.headroom) - 1)
        if change < 0 || peak >= capacity { setLimit(limit + rule.smoothing * change) }
        windowsSinceProbe += 1
        if windowsSinceProbe >= max(10, rule.probeInterval) || limit < 0.6 * limitAtProbe { measure() }
    }

    private func lowered(_ limit: Double) -> Double { max(Double(bounds.lowerBound), limit * 0.7) }

    /// Lowers the capacity for a window. If that is impossible, the last latency is the result.
    private mutating func lower(_ probe: Probe) {
        if wholeCapacity(lowered(probe.above)) >= wholeCapacity(probe.above) {
            return end(probe, latency: probe.latency)
        }
        self.probe = probe
    }

    /// Ends a measurement if the latency has not decreased with the capacity; otherwise lowers the capacity again.
    private mutating func advance(_ probe: Probe, _ latency: Double) {
        let limit = lowered(probe.above)
        let ratio = Double(wholeCapacity(limit)) / Double(wholeCapacity(probe.above))
        var next = Probe(latency: latency, above: limit, wasLoaded: probe.wasLoaded)
        // If operations wait in the other system, the latency is proportional to the capacity. If the latency has risen
        // instead, the load has changed during the measurement.
        if latency / probe.latency < (1 + ratio) / 2 || latency / probe.latency > 1.15 {
            next.wasLoaded = true
            return lower(next)
        }
        next.steadyFrom = probe.steadyFrom ?? probe.above
        if probe.steadyFrom != nil { return end(next, latency: (probe.latency + latency) / 2) }
        if isNearBaseline(latency) { return end(next, latency: latency) }
        // If the load began in the window before the measurement, the queue of the other system was short for a part of
        // that window. The latency was then lower than the one that belongs to the capacity, and seems not to decrease.
        // The next comparison does not contain that window.
        lower(next)
    }

    private func isNearBaseline(_ latency: Double) -> Bool {
        guard let baseline else { return false }
        return latency / baseline > 0.75 && latency / baseline < 1.33
    }

    private mutating func end(_ probe: Probe, latency: Double) {
        if let baseline, isNearBaseline(latency) {
            self.baseline = (baseline + latency) / 2
        } else {
            baseline = latency
        }
        if probe.wasLoaded, let steadyFrom = probe.steadyFrom {
            setLimit(min(limit, steadyFrom * (1 + rule.headroom)))
        }
        self.probe = nil
        windowsSinceProbe = 0
        limitAtProbe = limit
    }
}

extension Duration {
    /// The duration in seconds, rounded. A duration outside of the range that the library supports counts as its nearest
    /// end.
    var inSeconds: Double {
        let (seconds, attoseconds) = saturated.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
