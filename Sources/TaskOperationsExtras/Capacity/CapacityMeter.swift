/// Collects the latencies and refusals of operations, window by window, and lets a `CapacityControl` compute the
/// capacity from them. It is a pure value; times are in seconds since any common instant.
///
/// A window counts only those operations that started in the window, so that their latencies belong to its capacity.
/// The memory is bounded: of many latencies in a window, it stores every second, fourth and so on.
package struct CapacityMeter: Sendable {
    /// The start of an operation.
    package struct Start: Hashable, Sendable {
        fileprivate let time: Double
        fileprivate let window: UInt64
    }

    package enum Outcome: Hashable, Sendable {
        case completed
        /// The other system refused the operation because of its load.
        case refused
        /// The operation says nothing about the load of the other system.
        case ignored
    }

    private let rule: CapacityRule
    package private(set) var control: CapacityControl
    /// The number of executing operations.
    package private(set) var executing = 0
    /// The number of the present window.
    package private(set) var window: UInt64 = 0
    private var begin: Double?
    private var peak = 0
    private var completed = 0
    private var refused = 0
    private(set) var latencies: [Double] = []
    /// Of so many latencies, one is stored.
    private var stride = 1

    private static var maximumCount: Int { 256 }

    package init(_ rule: CapacityRule, within bounds: ClosedRange<Int>, from capacity: Int) {
        self.rule = rule
        control = CapacityControl(rule, within: bounds, from: capacity)
    }

    package mutating func start(at time: Double) -> Start {
        if begin == nil, time.isFinite { begin = time }
        executing += 1
        peak = max(peak, executing)
        return Start(time: time, window: window)
    }

    /// Records the end of an operation, which may end the window. Constant time, except at the end of a window.
    package mutating func end(_ start: Start, at time: Double, _ outcome: Outcome) {
        executing -= 1
        if start.window == window {
            switch outcome {
            case .completed: add(time - start.time)
            case .refused: refused += 1
            case .ignored: break
            }
        }
        // The clock was set back.
        if let begin, time < begin { self.begin = time }
        if isOver(at: time) { endWindow(at: time) }
    }

    private mutating func add(_ latency: Double) {
        // The time may be unknown, or the clock may have been set back.
        guard latency.isFinite, latency >= 0 else { return }
        completed += 1
        if completed % stride != 0 { return }
        latencies.append(max(latency, 1e-9))
        if latencies.count < Self.maximumCount { return }
        stride *= 2
        latencies = latencies.indices.filter { $0 % 2 == 1 }.map { latencies[$0] }
    }

    private func isOver(at time: Double) -> Bool {
        // The latency without load affects many later windows, so it is measured with more operations.
        let count = max(1, rule.sampleCount).multipliedReportingOverflow(by: control.isProbing ? 4 : 1)
        guard !count.overflow, completed + refused >= count.partialValue, let begin else { return false }
        let window = max(0, rule.window.inSeconds)
        return time - begin >= max(window, min(4 * (control.baseline ?? 0), 8 * window))
    }

    private mutating func endWindow(at time: Double) {
        control.advance(
            CapacityWindow(
                latency: Self.mean(&latencies), refused: Double(refused) / Double(completed + refused), peak: peak))
        window += 1
        begin = time
        peak = executing
        (completed, refused, stride) = (0, 0, 1)
        latencies.removeAll(keepingCapacity: true)
    }

    /// The mean latency; nil if there is none. A latency counts as at most four times the median, so that a single
    /// one has little influence.
    ///
    /// The median alone would not rise if requests are sent in batches and fewer than half of a batch wait.
    static func mean(_ latencies: inout [Double]) -> Double? {
        if latencies.isEmpty { return nil }
        latencies.sort()
        let limit = 4 * latencies[latencies.count / 2]
        return latencies.reduce(0) { $0 + min($1, limit) / Double(latencies.count) }
    }
}
