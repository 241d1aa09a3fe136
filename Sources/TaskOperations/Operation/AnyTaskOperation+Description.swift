import Synchronization

extension AnyTaskOperation: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name and the state of the operation, as in `"decode" (waiting)`.
    public var description: String {
        "\(OperationLabel(self)) (\(state)\(isCancelled ? ", cancelled" : ""))"
    }

    /// The description, the unfinished dependencies, and the outcome. Takes linear time in the number of dependencies.
    public var debugDescription: String {
        var parts = ["\(state)"]
        if isCancelled { parts.append("cancelled") }
        parts.append("priority \(PriorityLevel(priority))")
        if effectivePriority != priority { parts.append("escalated to \(PriorityLevel(effectivePriority))") }
        switch state {
        case .waiting, .ready:
            if let waitingDescription { parts.append(waitingDescription) }
        case .executing:
            let waits = record.withLock { $0.links?.waits.all.map(\.target) ?? [] }
            if !waits.isEmpty { parts.append("awaits \(waits.map(\.description).joined(separator: ", "))") }
        case .finished:
            parts.append(failure.map { "failed: \($0)" } ?? "succeeded")
        }
        return "\(OperationLabel(self)) (\(parts.joined(separator: ", ")))"
    }

    /// The reason why the operation waits: unfinished dependencies, a delay, or a missing queue. Nil if only the
    /// operation's queue knows the reason.
    private var waitingDescription: String? {
        let unfinished = dependencies.filter { !$0.isFinished }
        if !unfinished.isEmpty {
            return "waits for \(unfinished.map { OperationLabel($0).description }.joined(separator: ", "))"
        }
        if record.withLock({ $0.isDelayed }) { return "waits for the end of its delay" }
        return record.withLock { $0.host } == nil ? "not added to a queue" : nil
    }
}
