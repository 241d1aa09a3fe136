@testable import TaskOperations

// The rules of rates, in the simplest form.

extension SmallQueue {
    mutating func pass() {
        state.advance(to: state.pace.time.now + Self.step)
        tokens = min(tokens + 1, Self.burst)
    }

    /// Checks the state just before an operation starts.
    mutating func checkStart() {
        if tokens == 0 { faults.append("a start though the rate allows none") }
        guard !plan.kinds.contains(.caps) else { return }
        let ready = operations.indices.filter { status($0) == .ready && barriers(before: $0).isEmpty }
        let first = ready.min { level($0) == level($1) ? $0 < $1 : level($0) > level($1) }
        let next = state.peekedCandidate.map { state.rows[$0.slot].element }
        if next != first { faults.append("\(next, default: "nothing") starts, not \(first, default: "nothing")") }
    }

    private func level(_ number: Int) -> PriorityLevel { state.rows[operations[number].slot!].level }

    /// Descriptions of the errors in the times of the state.
    var timeViolations: [String] {
        guard let bucket = state.pace.tokens else { return [] }
        var violations: [String] = []
        let count = bucket.count(at: state.pace.time.now, atMost: .max)
        if count != tokens { violations.append("the rate allows \(count) starts, not \(tokens)") }
        var settled = state
        settled.computeEffects()
        let wake = settled.takeEffects().wake
        let delay = wake.map { $0.reading - state.pace.time.told }
        let isHeldUp = tokens == 0 && state.isStartable
        if isHeldUp, delay != Self.step { violations.append("the queue is woken after \(delay, default: "nothing")") }
        if let wake, let next = settled.candidate, wake.level < next.taskLevel {
            violations.append("the queue is woken at \(wake.level) for an operation at \(next.taskLevel)")
        }
        return violations
    }
}

extension SchedulerState {
    /// Whether an operation is ready and only the rate keeps it from starting.
    fileprivate var isStartable: Bool {
        !selection.ready.isEmpty && !isHalted && !permits.isAwaitedBack && width.available > 0
    }
}
