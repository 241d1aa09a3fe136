/// Finds the types of expressions by names. Every step has a bound, so that finding the types of all tokens takes
/// linear time.
struct Typer {
    /// A type, and whether only one reading of the names is possible.
    struct Result {
        var type: TypeReference
        var isCertain = true
        /// Whether the expression names the type itself, not a value of it.
        var isMetatype = false
    }

    static let deepest = 8
    static let longestChain = 48

    let file: SourceFile
    let declarations: Declarations
    let codeBase: CodeBase

    /// The declared type of a variable, or the type that its initial value obviously creates.
    static func declaredType(of variable: Variable, in file: SourceFile) -> TypeReference? {
        switch variable.source {
        case .declared(let type): return type
        case .expression(let start):
            var index = start
            while file[index] == .try || file[index] == .await { index += 1 }
            guard let (type, end) = file.type(at: index), file.beginsUpper(end - 1) || file[index] == .openSquare
            else { return nil }
            if file[index] == .openSquare {
                return file[end] == .closeSquare && file[end + 1] == .openParen ? type : nil
            }
            if file[end] == .openParen { return type }
            return nil
        default: return nil
        }
    }

    /// The type of the expression before the dot at an index.
    func receiver(ofDot dot: Int, depth: Int = 0) -> Result? {
        guard depth < Self.deepest, let start = chainStart(before: dot) else { return nil }
        return type(from: start, to: dot, depth: depth + 1)
    }

    /// For the dot of `\.member` in `filter(\.member)`, the type of the elements.
    func root(ofKeyPath dot: Int) -> Result? {
        let (backslash, parenthesis, function, functionDot) = (dot - 1, dot - 2, dot - 3, dot - 4)
        guard file[backslash] == .backslash, file[parenthesis] == .openParen, file[functionDot] == .dot
        else { return nil }
        switch file[function] {
        case .map, .compactMap, .flatMap, .filter, .allSatisfy, .contains, .first, .sorted: break
        default: return nil
        }
        guard let list = receiver(ofDot: functionDot), list.type.layers > 0 else { return nil }
        return Result(type: list.type.element, isCertain: list.isCertain)
    }

    func systemType(_ result: Result?) -> SystemType? {
        guard let result, result.type.layers == 0 else { return nil }
        return codeBase.systemType(result.type.name)
    }

    /// The first token of the chain of members and calls that ends before a dot.
    func chainStart(before dot: Int) -> Int? {
        var index = dot - 1
        for _ in 0..<Self.longestChain {
            while file[index] == .question || file[index] == .exclamation { index -= 1 }
            switch file[index] {
            case .closeParen, .closeSquare, .closeBrace:
                let open = file.partner(index)
                guard open < index else { return nil }
                // `name(…)`, `name[…]`, `name {…}`, `name(…) {…}`: the chain continues before the bracket.
                let before = skipMarks(open - 1)
                if file.isWord(before), !isKeyword(before) {
                    index = before
                    continue
                }
                if file[before] == .closeParen || file[before] == .closeSquare {
                    if file[index] == .closeParen, file[before] == .closeParen { return nil }
                    index = before
                    continue
                }
                if file[before] == .greater, let name = genericName(before) {
                    index = name
                    continue
                }
                return file[index] == .closeBrace ? nil : open
            default:
                guard file.isWord(index) || file.isString(index) else { return nil }
                guard file[index - 1] == .dot else { return index }
                guard file.isWord(index - 2) || isClosing(skipMarks(index - 2)) else { return index - 1 }
                index -= 2
            }
        }
        return nil
    }

    private func skipMarks(_ index: Int) -> Int {
        var index = index
        while file[index] == .question || file[index] == .exclamation { index -= 1 }
        return index
    }

    private func isClosing(_ index: Int) -> Bool {
        switch file[index] {
        case .closeParen, .closeSquare, .closeBrace: true
        default: file.isWord(index) || file.isString(index)
        }
    }

    private func isKeyword(_ index: Int) -> Bool {
        switch file[index] {
        case .return, .in, .if, .while, .guard, .case, .try, .await, .else, .switch, .throw, .for, .where, .is, .as:
            true
        default: false
        }
    }

    /// The name before the generic arguments that end at an index.
    private func genericName(_ end: Int) -> Int? {
        var depth = 0
        for index in stride(from: end, to: max(-1, end - 40), by: -1) {
            if file[index] == .greater { depth += 1 }
            if file[index] == .less {
                depth -= 1
                if depth == 0 { return file.isWord(index - 1) ? index - 1 : nil }
            }
        }
        return nil
    }
}

extension SourceFile {
    /// Whether a word begins with a capital letter, as names of types do.
    func beginsUpper(_ index: Int) -> Bool {
        guard isWord(index) else { return false }
        return bytes[Int(tokens[index].start)] &- 65 < 26
    }
}
