/// Determines the kind of scope that each brace opens, in one pass over the tokens of a file.
struct ScopeBuilder {
    /// A declaration or statement whose opening brace has not been read.
    private struct Head {
        var kind: Scope.Kind
        var name: Word
        var index: Int
        /// The number of open brackets around the head. A brace inside more brackets does not belong to the head.
        var depth: Int
    }

    private let tokens: [Token]
    private let partners: [Int32]
    private let lineStarts: [UInt32]
    /// The line of the current token, from 0.
    private var line = 0
    private(set) var scopes: [Scope] = [
        Scope(kind: .file, name: Vocabulary.none, parent: -1, head: 0, open: -1, close: Int.max)
    ]
    private(set) var scopeOfToken: [Int32]
    private var current = 0
    private var depth = 0
    /// The scopes whose braces are open, each with the number of open brackets around it.
    private var open: [(scope: Int, depth: Int)] = []
    private var head: Head?

    /// The maximum number of tokens in a function's head. If a head is longer, its parameters count as variables
    /// of the enclosing scope.
    private static let longestHead = 400

    init(_ tokens: [Token], _ partners: [Int32], _ lineStarts: [UInt32]) {
        self.tokens = tokens
        self.lineStarts = lineStarts
        self.partners = partners
        scopeOfToken = [Int32](repeating: 0, count: tokens.count)
    }

    mutating func build(_ language: Lexer.Language) {
        for index in tokens.indices {
            scopeOfToken[index] = Int32(current)
            dropVariable(index)
            switch language {
            case .swift: readSwift(index)
            case .objectiveC: readObjectiveC(index)
            }
        }
    }

    /// Drops the head of a stored variable at a new line, because no brace follows.
    private mutating func dropVariable(_ index: Int) {
        let before = line
        while line + 1 < lineStarts.count, lineStarts[line + 1] <= tokens[index].start { line += 1 }
        guard line > before, let head, term(head.index) == .var, head.depth == depth else { return }
        if term(index) != .openBrace { self.head = nil }
    }

    private func term(_ index: Int) -> Term? { tokens.indices.contains(index) ? tokens[index].term : nil }

    private func isName(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .word }

    private mutating func readSwift(_ index: Int) {
        guard let term = tokens[index].term else { return }
        switch term {
        case .openParen, .openSquare: depth += 1
        case .closeParen, .closeSquare: depth = max(0, depth - 1)
        case .openBrace: openBrace(index)
        case .closeBrace: closeBrace(index)
        case .semicolon: head = nil
        case .equal: if let head, self.term(head.index) == .var, head.depth == depth { self.head = nil }
        default: if self.term(index - 1) != .dot { readKeyword(index, term) }
        }
    }

    private mutating func readKeyword(_ index: Int, _ term: Term) {
        switch term {
        case .class, .struct, .enum, .actor, .extension, .protocol:
            if isTypeDeclaration(index) { begin(.type, name: lastComponent(index + 1), index) }
        case .func: if tokens.count > index + 1 { begin(.function, name: tokens[index + 1].word, index) }
        case .initializer, .deinit, .subscript: begin(.function, name: tokens[index].word, index)
        case .var: beginVariable(index)
        case .get, .set, .willSet, .didSet:
            switch self.term(index + 1) {
            case .openBrace, .openParen, .throws, .async: begin(.function, name: tokens[index].word, index)
            default: break
            }
        case .if, .for, .while, .guard, .switch, .do, .catch, .repeat, .else:
            // In the parentheses of a function the word is a label, as in `func f(for name: Name)`.
            if let head, head.kind == .function, depth > head.depth { return }
            if self.term(index + 1) != .colon { begin(.block, name: Vocabulary.none, index) }
        case .defer: begin(.deferred, name: Vocabulary.none, index)
        case .let, .case, .return, .import: if head?.kind == .function { head = nil }
        default: break
        }
    }

    /// Begins the head of a variable. A computed property has an accessor; `=` removes the head of a stored property.
    private mutating func beginVariable(_ index: Int) {
        guard isName(index + 1), head == nil || head?.kind == .function else { return }
        begin(.function, name: tokens[index + 1].word, index)
    }

    private mutating func begin(_ kind: Scope.Kind, name: Word, _ index: Int) {
        head = Head(kind: kind, name: name, index: index, depth: depth)
    }

    /// Whether `class` or a similar keyword declares a type. It does not in `class func`, in `x: class`, or as a label.
    private func isTypeDeclaration(_ index: Int) -> Bool {
        guard isName(index + 1) else { return false }
        switch term(index + 1) {
        case .func, .var, .let, .subscript, .override, .final, .private, .public, .internal, .fileprivate, .initializer,
            .open, .static, .in, .is, .as, .if, .return, .async, .weak, .lazy, .unowned:
            return false
        default: break
        }
        switch term(index - 1) {
        case .colon, .comma, .openParen, .let, .var, .func, .case, .ampersand: return false
        default: return true
        }
    }

    private func lastComponent(_ start: Int) -> Word {
        var index = start
        while term(index + 1) == .dot, isName(index + 2) { index += 2 }
        return tokens[index].word
    }

    private mutating func openBrace(_ index: Int) {
        open.append((current, depth))
        if let head, head.depth == depth {
            push(head.kind, head.name, head.index, index)
            self.head = nil
        } else {
            push(.closure, Vocabulary.none, index, index)
        }
        depth = 0
        savedHeads.append(head)
        head = nil
    }

    /// The heads outside the open closures, such as an `if` whose parentheses contain a closure.
    private var savedHeads: [Head?] = []

    private mutating func push(_ kind: Scope.Kind, _ name: Word, _ head: Int, _ index: Int) {
        let close = partners[index] >= 0 ? Int(partners[index]) : tokens.count
        if kind == .function, index - head <= Self.longestHead {
            for parameter in head..<index where Int(scopeOfToken[parameter]) == current {
                scopeOfToken[parameter] = Int32(scopes.count)
            }
        }
        scopes.append(Scope(kind: kind, name: name, parent: current, head: head, open: index, close: close))
        current = scopes.count - 1
        scopeOfToken[index] = Int32(current)
    }

    private mutating func closeBrace(_ index: Int) {
        guard let last = open.popLast() else { return }
        (current, depth) = last
        head = savedHeads.popLast() ?? nil
    }

    private mutating func readObjectiveC(_ index: Int) {
        guard let term = tokens[index].term else { return }
        switch term {
        case .interface, .implementation, .protocol:
            guard self.term(index - 1) == .at, isName(index + 1), self.term(index + 2) != .semicolon else { return }
            scopes.append(
                Scope(
                    kind: .type, name: tokens[index + 1].word, parent: 0, head: index - 1, open: index,
                    close: tokens.count))
            current = scopes.count - 1
            (open, savedHeads, depth, head) = ([], [], 0, nil)
        case .end:
            guard self.term(index - 1) == .at else { return }
            if current != 0 { scopes[current].close = index }
            current = 0
        case .minus, .plus:
            let isMethod = scopes[current].kind == .type && self.term(index + 1) == .openParen && depth == 0
            if isMethod { begin(.function, name: methodName(index), index) }
        case .if, .for, .while, .switch, .do, .else, .synchronized, .autoreleasepool:
            begin(.block, name: tokens[index].word, index)
        case .semicolon: if depth == (head?.depth ?? -1) { head = nil }
        case .openParen, .openSquare: depth += 1
        case .closeParen:
            depth = max(0, depth - 1)
            // A C function: `name(…) {` outside of any other function.
            if scopes[current].kind == .file || scopes[current].kind == .type, head == nil,
                self.term(index + 1) == .openBrace, partners[index] > 0, isName(Int(partners[index]) - 1)
            {
                begin(.function, name: tokens[Int(partners[index]) - 1].word, Int(partners[index]) - 1)
            }
        case .closeSquare: depth = max(0, depth - 1)
        case .openBrace: openBrace(index)
        case .closeBrace: closeBrace(index)
        default: break
        }
    }

    /// The first part of a method's name, which follows the type in parentheses.
    private func methodName(_ index: Int) -> Word {
        let close = partners[index + 1]
        return close >= 0 && isName(Int(close) + 1) ? tokens[Int(close) + 1].word : Vocabulary.none
    }
}
