public import TaskOperationsExtras

extension Trace {
    /// Computes the widths that a rule would have chosen for a queue, from the recorded executions.
    ///
    /// ```swift
    /// for decision in trace.dryRun(of: .gradient(), ofQueue: 0, within: 2...64) {
    ///     print(decision.time, decision.executing, decision.capacity)
    /// }
    /// ```
    ///
    /// See `CapacityRule.dryRun(over:within:from:)` for the assumptions. Sorts the operations of the queue.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - index: The index of the queue in `queues`.
    ///   - bounds: The bounds of the width; at least 1.
    ///   - isRefusal: Returns whether a failed operation was refused by the system that the bodies call. A trace
    ///     contains no errors, so by default no operation was. Other operations that have not succeeded are ignored.
    /// - Returns: The decisions at the ends of the windows, with times of the trace. Empty if there is no such queue.
    public func dryRun(
        of rule: CapacityRule, ofQueue index: Int, within bounds: ClosedRange<Int>,
        isRefusal: (Operation) -> Bool = { _ in false }
    ) -> [CapacityDecision] {
        let samples = operations.compactMap { operation -> CapacitySample? in
            if operation.queue != index { return nil }
            let isRefused = operation.outcome == .failed && isRefusal(operation)
            if operation.outcome != .succeeded, !isRefused { return nil }
            return CapacitySample(start: operation.start, end: operation.end, isRefused: isRefused)
        }
        return rule.dryRun(
            over: samples, within: bounds, from: queues.indices.contains(index) ? queues[index].width : nil)
    }
}
