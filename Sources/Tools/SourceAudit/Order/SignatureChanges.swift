/// The types whose interfaces change in a move: a class becomes a body, or a function becomes async.
struct SignatureChanges {
    /// The types by the file that declares them.
    private(set) var types: [Int: Set<Word>] = [:]

    init(_ findings: [Finding], _ vocabulary: Vocabulary) {
        for finding in findings where finding.allowance == nil && Self.changes(finding) {
            // The context of a class is the scope of its declaration; its own name is in its line.
            types[finding.file, default: []].insert(vocabulary[String(finding.context.prefix { $0 != "." })])
            if let name = finding.declaredClass { types[finding.file, default: []].insert(vocabulary[name]) }
        }
    }

    /// Whether a move changes the interface around a finding. Moving state behind a lock or replacing a queue does not.
    private static func changes(_ finding: Finding) -> Bool {
        guard finding.pattern.effort != .rote else { return false }
        switch finding.pattern.step {
        case .leaves, .graphs, .callers: break
        case .queues, .state, .checking, .bridge: return false
        }
        return !finding.source.hasPrefix("private ") && !finding.source.hasPrefix("fileprivate ")
    }
}

extension Finding {
    /// The name of the class that a finding of a subclass declares; nil for other findings.
    var declaredClass: String? {
        guard pattern.id.contains("subclass") || pattern.id == "operation-state-machine" else { return nil }
        let words = source.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        guard let keyword = words.firstIndex(of: "class"), keyword + 1 < words.endIndex else { return nil }
        return String(words[keyword + 1])
    }
}
