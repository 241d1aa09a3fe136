/// The result type of a call or a function, as far as names determine it.
struct ResultType {
    /// The tokens of the type; nil if it is absent or unknown.
    let tokens: Range<Int>?
    let isVoid: Bool
    /// Whether a call is a whole statement, so that the result is discarded.
    private(set) var isDiscarded = false

    /// Reads the result type of the function or accessor whose body is a scope.
    init(ofFunction place: Int, in file: SourceFile) {
        let scope = file.outline.scopes[place]
        var tokens: Range<Int>?
        switch file[scope.head] {
        case .func, .subscript: tokens = Self.behindArrow(scope.head, scope.open, file)
        case .var: if file[scope.head + 2] == .colon { tokens = scope.head + 3..<scope.open }
        case .get:
            self = ResultType(ofFunction: scope.parent, in: file)
            return
        default: break
        }
        let text = tokens.map { file.joined($0) } ?? ""
        isVoid = ["", "Void", "()"].contains(text)
        self.tokens = isVoid ? nil : tokens
    }

    /// Determines the result type of a call that is alone in a function's body, follows `return`, or is alone on its
    /// line.
    init(ofCallFrom start: Int, to end: Int, in file: SourceFile) throws(Refusal) {
        let place = file.outline.scope(of: start)
        let scope = file.outline.scopes[place]
        var first = start
        while file[first - 1] == .try || file[first - 1] == .return { first -= 1 }
        let isAlone = first == scope.open + 1 && end + 1 == scope.close
        let isReturned = file[first] == .return || isAlone
        if isReturned, scope.kind == .function {
            self = ResultType(ofFunction: place, in: file)
            return
        }
        (tokens, isVoid) = (nil, false)
        isDiscarded = !isReturned && scope.kind != .type && Self.beginsStatement(first, file)
    }

    /// Whether a token is the first of its line, and continues neither the line before nor a string.
    private static func beginsStatement(_ first: Int, _ file: SourceFile) -> Bool {
        let indentation = file.bytes[file.lineStart(file.line(first))..<Int(file.tokens[first].start)]
        guard indentation.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { return false }
        guard first > 0, file.tokens[first - 1].kind == .mark else { return true }
        let ends: [Term] = [.openBrace, .closeBrace, .closeParen, .closeSquare, .semicolon, .exclamation]
        return file[first - 1].map(ends.contains) ?? false
    }

    private static func behindArrow(_ head: Int, _ open: Int, _ file: SourceFile) -> Range<Int>? {
        var index = head
        while index < open {
            switch file[index] {
            case .openParen, .openSquare: index = max(index, file.partner(index))
            case .arrow:
                let end = (index..<open).first { file[$0] == .where } ?? open
                return index + 1..<end
            default: break
            }
            index += 1
        }
        return nil
    }

    private static let sendable: Set<String> = [
        "Void", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
        "Double", "Float", "String", "Substring", "Character", "Data", "Date", "URL", "UUID", "TimeInterval",
        "Duration", "Array", "Set", "Dictionary", "Optional", "Swift", "Foundation",
    ]

    /// Whether all returned values are `Sendable`.
    func isSendable(in context: FixContext) -> Bool {
        if isVoid || isDiscarded { return true }
        guard let tokens else { return false }
        return tokens.allSatisfy { index in
            guard context.file.isWord(index) else { return true }
            if Self.sendable.contains(context.file.text(index)) { return true }
            let types = context.matcher.codeBase.types[context.file.word(index)] ?? []
            return types.contains { $0.supers.contains { $0.name == Word(.sendableType) } || $0.kind == .actor }
        }
    }

    /// Whether the function has an opaque result type, which a closure does not infer.
    func isOpaque(in file: SourceFile) -> Bool { tokens?.contains { file[$0] == .someType } ?? false }
}
