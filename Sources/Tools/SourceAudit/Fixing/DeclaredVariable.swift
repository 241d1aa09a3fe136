/// A variable whose declaration creates its value: `private let lock = NSLock()`.
struct DeclaredVariable {
    enum Place: Equatable {
        case local, global
        case member(of: Word, isStatic: Bool)
    }

    let name: Word
    /// The token of the variable's name.
    let index: Int
    /// The first token of the value.
    let start: Int
    /// The token of the written type; nil if none is written.
    let type: Int?
    let isVariable: Bool
    let modifiers: Set<String>
    let isUnderCondition: Bool
    let place: Place
    let scope: Int

    /// Whether other files cannot name it.
    var isPrivate: Bool { place == .local || modifiers.contains("private") || modifiers.contains("fileprivate") }

    /// Reads the declaration around a value that is created at an index.
    init(madeAt made: Int, in file: SourceFile) throws(Refusal) {
        // `let lock: NSLock = .init()` is created at `init`.
        let start = file[made] == .initializer ? made - 1 : made
        let isTyped = file[start - 3] == .colon
        let index = isTyped ? start - 4 : start - 2
        guard file[start - 1] == .equal, isTyped || start == made, file.isWord(index),
            file[index - 1] == .let || file[index - 1] == .var
        else {
            throw Refusal("it is not the value of a declaration")
        }
        let next = file.partner(made + 1) + 1
        let isWhole = !file.tokens.indices.contains(next) || file.isFirstOnLine(next) || file[next] == .closeBrace
        guard file[made + 1] == .openParen, isWhole || file[next] == .semicolon else {
            throw Refusal("it is part of an expression")
        }
        (name, self.index, type) = (file.word(index), index, isTyped ? start - 2 : nil)
        self.start = start
        isVariable = file[index - 1] == .var
        isUnderCondition = file.outline.condition(of: index) != 0
        var modifiers: Set<String> = []
        var before = index - 2
        while file.isWord(before), Self.isModifier(file.text(before)) {
            modifiers.insert(file.text(before))
            before -= 1
        }
        self.modifiers = modifiers
        if file[before - 1] == .at || file[before] == .closeParen, file.line(before) == file.line(index) {
            throw Refusal("it has an attribute")
        }
        scope = file.outline.scope(of: index)
        switch file.outline.scopes[scope].kind {
        case .file:
            guard !file.path.hasSuffix("main.swift") else { throw Refusal("it is a variable of main.swift") }
            place = .global
        case .type: place = .member(of: file.outline.scopes[scope].name, isStatic: modifiers.contains("static"))
        default: place = .local
        }
    }

    private static func isModifier(_ text: String) -> Bool {
        [
            "private", "fileprivate", "internal", "package", "public", "open", "static", "class", "final", "lazy",
            "weak", "unowned", "override", "dynamic", "nonisolated",
        ].contains(text)
    }
}

extension SourceFile {
    /// The byte range of tokens whose text equals the source: words without backticks, and marks.
    func range(_ tokens: ClosedRange<Int>) -> Range<Int> {
        Int(self.tokens[tokens.lowerBound].start)..<Int(self.tokens[tokens.upperBound].start)
            + text(tokens.upperBound).utf8.count
    }

    /// The texts of tokens, without the text between them.
    func joined(_ tokens: Range<Int>) -> String { tokens.map { text($0) }.joined() }

    func lineStart(_ line: Int) -> Int { Int(lineStarts[line - 1]) }

    /// The white space at the beginning of a line.
    func indentation(ofLine line: Int) -> String {
        String(
            decoding: bytes[lineStart(line)...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") },
            as: UTF8.self)
    }

    func isInProtocol(_ index: Int) -> Bool {
        outline.enclosing(.type, of: index).map { kind(ofTypeScope: $0) == .protocol } ?? false
    }

    /// The kind of type whose body or extension has the given scope.
    func kind(ofTypeScope scope: Int) -> Term? {
        let head = outline.scopes[scope].head
        return self[head]
    }
}
