import TaskOperations

// The program as text.

extension Program: CustomStringConvertible {
    public var description: String {
        var lines = ["schedule \(schedule)"]
        for (number, queue) in queues.enumerated() {
            lines.append("queue \(number): \(queue)")
        }
        for (number, capacity) in semaphores.enumerated() { lines.append("semaphore \(number): capacity \(capacity)") }
        for (number, operation) in operations.enumerated() { lines.append("operation \(number): \(operation)") }
        return (lines + ["main:"] + Step.lines(steps)).joined(separator: "\n")
    }

    /// The number of operations, dependencies and steps, including the steps inside of steps.
    public var size: Int {
        operations.count + Step.count(steps)
            + operations.reduce(0) { $0 + $1.dependencies.count + Step.count($1.steps) }
    }
}

extension Program.Queue: CustomStringConvertible {
    public var description: String {
        var parts = ["width \(width)"]
        if order == .lastInFirstOut { parts.append("newest first") }
        if pendingLimit != .max { parts.append("\(pendingLimit) pending") }
        if overflow != .reject { parts.append("\(overflow)") }
        if let rate { parts.append("one per \(rate.interval) s, \(rate.burst) at once") }
        if isSuspended { parts.append("suspended") }
        if isScope { parts.append("of a scope") }
        return parts.joined(separator: ", ")
    }
}

extension Program.Operation: CustomStringConvertible {
    public var description: String {
        var parts = ["level \(level)"]
        if weight != 1 { parts.append("weight \(weight)") }
        if !limits.isEmpty { parts.append("limits \(limits)") }
        if !dependencies.isEmpty { parts.append("after \(dependencies)") }
        if let input { parts.append("needs \(input)") }
        if hasHandler { parts.append("has a handler") }
        return ([parts.joined(separator: ", ")] + Step.lines(steps)).joined(separator: "\n")
    }
}

extension Step {
    static func count(_ steps: [Step]) -> Int { steps.reduce(0) { $0 + 1 + $1.inner.reduce(0) { $0 + count($1) } } }

    /// The lists of steps inside of the step.
    private var inner: [[Step]] {
        switch self {
        case .children(let lists): lists
        case .scope(_, let steps): [steps]
        case .yield, .call, .await, .addWaiting, .awaitAll, .checkCancellation, .fail: []
        }
    }

    fileprivate static func lines(_ steps: [Step], indent: String = "  ") -> [String] {
        steps.flatMap { step -> [String] in
            switch step {
            case .children(let lists):
                lists.flatMap { [indent + "child"] + lines($0, indent: indent + "  ") }
            case .scope(let queue, let steps):
                [indent + "scope of queue \(queue)"] + lines(steps, indent: indent + "  ")
            case .call(let call): [indent + "\(call)"]
            case .yield, .await, .addWaiting, .awaitAll, .checkCancellation, .fail: [indent + "\(step)"]
            }
        }
    }
}
