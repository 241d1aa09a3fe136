/// `from` depends on `to`.
struct DependencyEdge {
    let from: Identity
    let to: Identity
    let token: Int
}

extension FileMatcher {
    /// The maximum number of edges of one function in the search for cycles.
    private static let mostEdges = 500

    mutating func analyzeDependencies() {
        var edges: [Int: [DependencyEdge]] = [:]
        var first: [Int: Int] = [:]
        var queues: [Int: Set<Word>] = [:]
        var strides: [Int] = []
        for finding in findings {
            let function = file.outline.enclosing(.function, of: finding.token) ?? 0
            switch finding.pattern.id {
            case "operation-dependency":
                if first[function] == nil { first[function] = finding.token }
                if let edge = edge(finding.token) { edges[function, default: []].append(edge) }
            case "queue-add", "queue-add-block", "queue-add-and-wait":
                queues[function, default: []].insert(file.vocabulary[receiverName(finding.token)])
                if isInStride(finding.token) { strides.append(finding.token) }
            default: break
            }
        }
        for edges in edges.values {
            if let token = cycle(in: edges) { add("operation-dependency-cycle", token, .likely) }
        }
        for (function, token) in first where queues[function, default: []].count > 1 {
            add("operation-dependencies-across-queues", token, .likely)
        }
        for token in strides { add("queue-add-many-sizes", token, .likely) }
        addGraph()
        addHandOvers()
    }

    /// The two variables of `a.addDependency(b)`. Nil if a loop declares one of them, because it is a new variable in
    /// each round.
    private func edge(_ token: Int) -> DependencyEdge? {
        guard file[token] == .addDependency, let from = identity(ofMember: token), file.isWord(token + 2),
            file[token + 3] == .closeParen, let to = identity(ofVariable: token + 2)
        else { return nil }
        let isLoops = [token - 2, token + 2].contains { index in
            guard let variable = declarations.local(file.word(index), at: index, in: file) else { return false }
            if case .element = variable.source { return true }
            return false
        }
        return isLoops ? nil : DependencyEdge(from: from, to: to, token: token)
    }

    /// Whether a token is in a loop over a stride.
    private func isInStride(_ index: Int) -> Bool {
        file.outline.scopes(around: index).contains { place in
            let scope = file.outline.scopes[place]
            guard scope.kind == .block, file[scope.head] == .for else { return false }
            return (scope.head..<min(scope.head + 8, scope.open)).contains { file[$0] == .stride }
        }
    }

    /// The edge that closes a cycle among the variables of one function.
    private func cycle(in edges: [DependencyEdge]) -> Int? {
        var next: [Identity: [Identity]] = [:]
        for edge in edges.prefix(Self.mostEdges) {
            var waiting = [edge.to]
            var seen: Set<Identity> = []
            while let word = waiting.popLast() {
                if word == edge.from { return edge.token }
                if seen.insert(word).inserted { waiting += next[word, default: []] }
            }
            next[edge.from, default: []].append(edge.to)
        }
        return nil
    }

    /// Adds a graph: at least three subclasses of operations with dependencies between them.
    private mutating func addGraph() {
        let kinds = declarations.types.filter {
            $0.kind == .class && codeBase.systemType($0.name)?.isKind(of: .operation) == true
        }
        let edges = findings.filter { $0.pattern.id == "operation-dependency" }
        if kinds.count > 2, edges.count > 1 { add("operation-graph", edges[0].token, .likely) }
    }

    /// Finds `second.input = first.output`, where both are operations.
    private mutating func addHandOvers() {
        for index in file.tokens.indices.dropFirst(3) where file[index] == .equal && file[index - 2] == .dot {
            guard file.isWord(index - 1), file.isWord(index + 1), file[index + 2] == .dot, file.isWord(index + 3),
                isOperation(index - 3), isOperation(index + 1)
            else { continue }
            add("operation-input-property", index - 1, .likely)
        }
    }

    private func isOperation(_ index: Int) -> Bool {
        guard file.isWord(index), file[index - 1] != .dot,
            let variable = declarations.local(file.word(index), at: index, in: file)
        else { return false }
        return typer.systemType(typer.type(of: variable, 0))?.isKind(of: .operation) == true
    }
}
