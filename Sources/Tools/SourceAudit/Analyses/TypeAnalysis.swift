extension FileMatcher {
    /// Finds system types in type positions, except where the creation of a value or a superclass is already found.
    mutating func addNamedTypes() {
        var heads: Set<Int> = []
        for type in declarations.types where type.kind == .class && file.language == .swift {
            heads.formUnion(type.index..<max(type.index, file.outline.scopes[type.scope].open))
        }
        for (index, type) in typeNames {
            guard let pattern = rules.named[type], isTypePosition(index), !heads.contains(index),
                findings(at: index).isEmpty, !isMadeHere(index, pattern)
            else { continue }
            let name = file.word(index)
            if declarations.hidden.contains(name) || codeBase.hides(name) { continue }
            // The queue of a Combine scheduler, as in `AnySchedulerOf<DispatchQueue>`.
            if file[index - 1] == .less, file.text(index - 2).contains("Scheduler") {
                add("dispatch-required", index, .certain)
                continue
            }
            add(pattern, index, codeBase.types[name]?.contains(where: \.isDeclaration) == true ? .likely : .certain)
        }
    }

    private func isTypePosition(_ index: Int) -> Bool {
        switch file[index + 1] {
        case .dot: if file[index + 2] != .selfValue && file.text(index + 2) != "Type" { return false }
        case .openParen: return false
        case .colon where file.language == .swift && file[index - 1] != .openSquare: return false
        default: break
        }
        switch file[index - 1] {
        case .dot: return isQualified(index)
        case .class, .struct, .enum, .protocol, .func, .case, .let, .var, .import, .associatedtype, .interface,
            .implementation, .typealias:
            return false
        default: break
        }
        guard file.language == .objectiveC else { return file[index - 1] != nil || file[index + 1] != nil }
        // A name or an asterisk follows the type of a declaration, a cast or a result.
        return file[index + 1] == .star || file[index + 1] == .closeParen
            || file.isWord(index + 1)
                && file[index - 1] != .openSquare
    }

    /// Whether the declaration that names a type also creates a value of it.
    private func isMadeHere(_ index: Int, _ pattern: Pattern) -> Bool {
        var next = index + 1
        while file[next] == .question || file[next] == .exclamation || file[next] == .greater || file[next] == .star {
            next += 1
        }
        if file.language == .objectiveC, file.isWord(next) { next += 1 }
        guard file[next] == .equal else { return false }
        let end = min(next + 60, file.tokens.count)
        let line = file.line(next)
        for token in next..<end {
            if file[token] == .semicolon, file[next + 1] != .openBrace { return false }
            if file[next + 1] != .openBrace, file.line(token) > line + 1 { return false }
            if findings(at: token).contains(where: { $0.pattern.family == pattern.family }) { return true }
        }
        return false
    }
}
