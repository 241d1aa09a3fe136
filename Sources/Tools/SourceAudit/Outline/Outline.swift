/// The nesting of a file: the pairs of brackets, and the scope and the `#if` condition of each token.
struct Outline {
    /// For each bracket the index of its partner; -1 for any other token.
    private let partners: [Int32]
    let scopes: [Scope]
    /// The index of each token's scope.
    private let scopeOfToken: [Int32]
    /// The tokens at which the `#if` condition changes, each with the index of the new condition in `conditions`.
    private var conditionChanges: [(index: Int, condition: Int)] = [(0, 0)]
    /// A part of a condition: the range of tokens behind a directive, and whether the part is negated.
    typealias ConditionPart = (range: Range<Int>, isNegated: Bool)

    /// The conditions of branches. Each has several parts, which must all hold: the condition written at the branch,
    /// and the negated conditions of the branches before it.
    private(set) var conditions: [[ConditionPart]] = [[]]

    init(_ tokens: [Token], _ lineStarts: [UInt32], language: Lexer.Language) {
        partners = Self.partners(of: tokens)
        var builder = ScopeBuilder(tokens, partners, lineStarts)
        builder.build(language)
        (scopes, scopeOfToken) = (builder.scopes, builder.scopeOfToken)
        findConditions(tokens, lineStarts)
    }

    func partner(_ index: Int) -> Int {
        partners.indices.contains(index) && partners[index] >= 0 ? Int(partners[index]) : max(0, partners.count - 1)
    }

    func scope(of index: Int) -> Int {
        scopeOfToken.indices.contains(index) ? Int(scopeOfToken[index]) : 0
    }

    /// The scopes around a token, innermost first, without the scope of the file.
    func scopes(around index: Int) -> [Int] {
        var result: [Int] = []
        var scope = self.scope(of: index)
        while scope > 0 && result.count < 64 {
            result.append(scope)
            scope = scopes[scope].parent
        }
        return result
    }

    /// The type or extension whose head contains a token, or nil.
    func declaration(withHeadAt index: Int) -> Int? {
        // The scopes have the order of their opening braces.
        var (low, high) = (0, scopes.count)
        while low < high {
            let middle = (low + high) / 2
            if scopes[middle].open <= index { low = middle + 1 } else { high = middle }
        }
        return low < scopes.count && scopes[low].kind == .type && scopes[low].head <= index ? low : nil
    }

    /// The innermost scope of a kind around a token, or nil.
    func enclosing(_ kind: Scope.Kind, of index: Int) -> Int? {
        var scope = self.scope(of: index)
        while scope > 0 {
            if scopes[scope].kind == kind { return scope }
            scope = scopes[scope].parent
        }
        return nil
    }

    /// The condition of `#if` around a token, 0 for none.
    func condition(of index: Int) -> Int {
        var (low, high) = (0, conditionChanges.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if conditionChanges[middle].index <= index { low = middle } else { high = middle }
        }
        return conditionChanges[low].condition
    }

    /// Pairs brackets. A closing bracket that does not match the innermost open bracket closes as many as it can. For
    /// example, a brace closes unclosed parentheses.
    private static func partners(of tokens: [Token]) -> [Int32] {
        var partners = [Int32](repeating: -1, count: tokens.count)
        var open: [(index: Int, closing: Term)] = []
        for (index, token) in tokens.enumerated() where token.kind == .mark {
            switch Term(token.word) {
            case .openParen: open.append((index, .closeParen))
            case .openSquare: open.append((index, .closeSquare))
            case .openBrace: open.append((index, .closeBrace))
            case .closeParen, .closeSquare:
                guard let last = open.last, last.closing == Term(token.word) else { continue }
                open.removeLast()
                partners[index] = Int32(last.index)
                partners[last.index] = Int32(index)
            case .closeBrace:
                while let last = open.last, last.closing != .closeBrace { open.removeLast() }
                guard let last = open.popLast() else { continue }
                partners[index] = Int32(last.index)
                partners[last.index] = Int32(index)
            default: break
            }
        }
        return partners
    }

    private mutating func findConditions(_ tokens: [Token], _ lineStarts: [UInt32]) {
        var open: [Int] = []
        var line = 0
        // The condition of a branch includes the negated conditions of the branches before it. Only the last of these
        // is not negated yet.
        func opposite(of parts: [ConditionPart]) -> [ConditionPart] {
            guard let last = parts.last else { return [] }
            return parts.dropLast().suffix(7) + [(last.range, !last.isNegated)]
        }
        // Conditions are visited in the order of lines, so that no token is visited twice.
        func endOfLine(_ index: Int) -> Int {
            while line < lineStarts.count, lineStarts[line] <= tokens[index].start { line += 1 }
            guard line < lineStarts.count else { return tokens.count }
            var end = index + 1
            while end < tokens.count, tokens[end].start < lineStarts[line] { end += 1 }
            return end
        }
        for (index, token) in tokens.enumerated() where token.kind == .directive {
            switch Term(token.word) {
            case .ifDirective, .ifdefDirective, .ifndefDirective:
                conditions.append([(index + 1..<endOfLine(index), Term(token.word) == .ifndefDirective)])
                open.append(conditions.count - 1)
            case .elseifDirective, .elifDirective:
                let before = open.popLast().map { opposite(of: conditions[$0]) } ?? []
                conditions.append(before + [(index + 1..<endOfLine(index), false)])
                open.append(conditions.count - 1)
            case .elseDirective:
                guard let last = open.popLast() else { continue }
                conditions.append(opposite(of: conditions[last]))
                open.append(conditions.count - 1)
            case .endifDirective:
                _ = open.popLast()
            default: continue
            }
            conditionChanges.append((index, open.last ?? 0))
        }
    }
}
