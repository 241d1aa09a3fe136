extension AnyTaskOperation: CustomStringConvertible, CustomDebugStringConvertible {
    /// What the operation is called and where it stands, as in `"decode" (waiting)`.
    public var description: String {
        "\(OperationLabel(self)) (\(state)\(isCancelled ? ", cancelled" : ""))"
    }

    /// What the operation is called, where it stands, what it waits for, and how it ended. Linear in its
    /// dependencies.
    public var debugDescription: String {
        var parts = ["\(state)"]
        if isCancelled { parts.append("cancelled") }
        parts.append("priority \(PriorityLevel(priority))")
        if effectivePriority != priority { parts.append("escalated to \(PriorityLevel(effectivePriority))") }
        switch state {
        case .waiting, .ready:
            parts.append(waitingDescription)
        case .executing:
            let waits = record.withLock { $0.links?.waits.map(\.target) ?? [] }
            if !waits.isEmpty { parts.append("awaits \(waits.map(\.description).joined(separator: ", "))") }
        case .finished:
            parts.append(failure.map { "failed: \($0)" } ?? "succeeded")
        }
        return "\(OperationLabel(self)) (\(parts.joined(separator: ", ")))"
    }

    private var waitingDescription: String {
        let unfinished = dependencies.filter { !$0.isFinished }
        if !unfinished.isEmpty {
            return "waits for \(unfinished.map { OperationLabel($0).description }.joined(separator: ", "))"
        }
        if record.withLock({ $0.isDelayed }) { return "waits for the end of its delay" }
        return record.withLock { $0.host }?.reasonToWait(of: self) ?? "not added to a queue"
    }
}
