import TaskDump
import TaskOperations

extension OperationGraph {
    /// The graph as a Mermaid flowchart. An arrow leads from an operation to each operation that waits for it. Each
    /// queue is a box.
    public var mermaid: String {
        var lines = ["flowchart LR"]
        for (queue, members) in membersOfQueues.enumerated() {
            lines.append("  subgraph q\(queue)[\"\(mermaidText("\(queues[queue].label)"))\"]")
            lines += members.map { "    \(mermaidNode($0))" }
            lines.append("  end")
        }
        lines += operations.indices.filter { operations[$0].queue == nil }.map { "  \(mermaidNode($0))" }
        lines += edges.map { "  o\($0.target) \($0.kind.mermaidArrow) o\($0.waiter)" }
        lines += [
            "  classDef executing fill:#2e7d32,color:#fff", "  classDef lent fill:#a5d6a7,color:#000",
            "  classDef ready fill:#1565c0,color:#fff", "  classDef waiting fill:#cfd8dc,color:#000",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var membersOfQueues: [[Int]] {
        var members = [[Int]](repeating: [], count: queues.count)
        for (index, operation) in operations.enumerated() {
            if let queue = operation.queue { members[queue].append(index) }
        }
        return members
    }

    private func mermaidNode(_ index: Int) -> String {
        let operation = operations[index]
        let text = mermaidText(operation.label.name ?? "unnamed")
        let (left, right) = operation.isBarrier ? ("{{", "}}") : ("[", "]")
        return "o\(index)\(left)\"\(text)\"\(right):::\(operation.state.drawnState)"
    }

    private func mermaidText(_ text: String) -> String {
        text.onOneLine.replacingScalars { scalar in
            switch scalar {
            case "#": "#35;"
            case "&": "#amp;"
            case "\"": "#quot;"
            case "<": "#lt;"
            case ">": "#gt;"
            case "`": "#96;"
            default: nil
            }
        }
    }
}

extension OperationGraph.Edge.Kind {
    fileprivate var mermaidArrow: String {
        switch self {
        case .dependency: "-->"
        case .barrier: "-.->"
        case .wait: "==>"
        }
    }
}

extension OperationGraph.State {
    /// The name of the state in a drawing, which combines some states.
    fileprivate var drawnState: String {
        switch self {
        case .executing: "executing"
        case .lent, .returning: "lent"
        case .ready: "ready"
        case .created, .waiting, .finished: "waiting"
        }
    }
}
