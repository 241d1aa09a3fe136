import TaskOperations

/// A recorded operation, which is the input of a dry run.
public struct CapacitySample: Hashable, Sendable {
    /// The time at which the body started, in seconds.
    public var start: Double
    /// The time at which the body ended, in seconds.
    public var end: Double
    /// Whether the other system refused the operation.
    public var isRefused: Bool

    /// Creates a sample. Times are in seconds since any common instant.
    public init(start: Double, end: Double, isRefused: Bool = false) {
        self.start = start
        self.end = end
        self.isRefused = isRefused
    }
}

/// A window of a dry run.
public struct CapacityDecision: Hashable, Sendable {
    /// The end of the window, in seconds.
    public let time: Double
    /// The number of operations that executed at once, as recorded: the mean over the operations of the window.
    public let executing: Double
    /// The recorded mean latency, in seconds; nil if no operation of the window has completed.
    public let latency: Double?
    /// The capacity that the rule would have chosen for the next window.
    public let capacity: Int
}

extension CapacityRule {
    /// Computes the capacities that this rule would have chosen while operations were recorded.
    ///
    /// A record does not contain the latencies that another capacity would have caused, so the dry run assumes them. With
    /// fewer operations at once, the latency would have been lower in proportion, but not below the lowest latency of
    /// all windows. With more operations than recorded, it assumes nothing, so a capacity that exceeds the recorded
    /// number does not increase.
    ///
    /// - Parameters:
    ///   - samples: The operations, in any order. A sample with a time that is not finite, or with an end before its
    ///     start, is ignored.
    ///   - bounds: The bounds of the capacity; at least 1.
    ///   - capacity: The capacity of the first window; nil for the largest number of operations at once.
    /// - Returns: The decisions at the ends of the windows. Sorts the samples.
    public func dryRun(
        over samples: [CapacitySample], within bounds: ClosedRange<Int>, from capacity: Int? = nil
    ) -> [CapacityDecision] {
        let windows = recordedWindows(of: samples)
        let lowest = windows.compactMap(\.latency).min() ?? 0
        let peak = windows.map(\.peak).max() ?? 1
        let lowerBound = max(1, bounds.lowerBound)
        var control = CapacityControl(
            self, within: lowerBound...max(lowerBound, bounds.upperBound), from: capacity ?? peak)
        return windows.map { window in
            let share = min(1, Double(control.capacity) / max(1, window.executing))
            control.advance(
                CapacityWindow(
                    latency: window.latency.map { max(lowest, $0 * share) }, refused: window.refused,
                    peak: min(window.peak, control.capacity)))
            return CapacityDecision(
                time: window.end, executing: window.executing, latency: window.latency, capacity: control.capacity)
        }
    }

    private struct RecordedWindow {
        let end: Double
        let latency: Double?
        let refused: Double
        let executing: Double
        let peak: Int
    }

    private func recordedWindows(of samples: [CapacitySample]) -> [RecordedWindow] {
        let valid = samples.filter { $0.start.isFinite && $0.end.isFinite && $0.end >= $0.start }.map(\.saturated)
        let starts = valid.map(\.start).sorted()
        let ends = valid.sorted { $0.end < $1.end }
        var windows: [RecordedWindow] = []
        var (begin, startIndex) = (starts.first ?? 0, 0)
        var (latencies, refused, counts): ([Double], Int, [Int]) = ([], 0, [])
        for (index, sample) in ends.enumerated() {
            while startIndex < starts.count, starts[startIndex] <= sample.end { startIndex += 1 }
            counts.append(startIndex - index)
            if sample.isRefused { refused += 1 } else { latencies.append(max(1e-9, sample.end - sample.start)) }
            if counts.count < max(1, sampleCount) || sample.end - begin < max(0, window.inSeconds) { continue }
            windows.append(
                RecordedWindow(
                    end: sample.end, latency: CapacityMeter.mean(&latencies),
                    refused: Double(refused) / Double(counts.count),
                    executing: Double(counts.reduce(0, +)) / Double(counts.count), peak: counts.max()!))
            (begin, latencies, refused, counts) = (sample.end, [], 0, [])
        }
        return windows
    }
}

extension CapacitySample {
    /// The sample with the nearest times in the range of durations that the library supports.
    fileprivate var saturated: CapacitySample {
        let longest = Duration.longest.inSeconds
        return CapacitySample(
            start: min(max(start, -longest), longest), end: min(max(end, -longest), longest), isRefused: isRefused)
    }
}
