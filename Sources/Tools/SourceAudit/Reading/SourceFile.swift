/// A file as tokens, with the structure of its brackets and declarations.
final class SourceFile {
    let path: String
    /// The index of the file among the audited files.
    let number: Int
    let language: Lexer.Language
    let bytes: [UInt8]
    let tokens: [Token]
    let lineStarts: [UInt32]
    /// The ranges of comments for the audit.
    let directives: [Range<Int>]
    let vocabulary: Vocabulary
    let outline: Outline
    /// The scopes by the first token of their declaration.
    let scopesByHead: [Int: Int]
    /// The scopes of each type, at most 16 of them. Further extensions in the same file are ignored.
    let typeScopes: [Word: [Int]]
    /// The types of the file and of `ownNames` that have the name of a system type.
    let ownNames: OwnNames

    /// - Parameter ownNames: The types of other files that have the name of a system type.
    init(path: String, number: Int, bytes: [UInt8], vocabulary: Vocabulary, ownNames: OwnNames = OwnNames()) {
        self.path = path
        self.number = number
        self.vocabulary = vocabulary
        self.bytes = bytes
        language = path.hasSuffix(".swift") ? .swift : .objectiveC
        var lexer = Lexer(bytes, language, vocabulary)
        lexer.run()
        (lineStarts, directives) = (lexer.lineStarts, lexer.directives)
        let firstOutline = Outline(lexer.tokens, lineStarts, language: language)
        var names = ownNames
        var tokens = lexer.tokens
        let isRenamed = names.rename(&tokens, firstOutline, language, vocabulary, file: number)
        (self.tokens, self.ownNames) = (tokens, names)
        // The outline has the names of types.
        outline = isRenamed ? Outline(tokens, lineStarts, language: language) : firstOutline
        var heads: [Int: Int] = [:]
        var types: [Word: [Int]] = [:]
        for (place, scope) in outline.scopes.enumerated() where place > 0 && scope.kind != .closure {
            heads[scope.head] = place
            if scope.kind == .type, types[scope.name, default: []].count < 16 {
                types[scope.name, default: []].append(place)
            }
        }
        (scopesByHead, typeScopes) = (heads, types)
    }

    /// The term at an index; nil outside of the file and for any other word.
    subscript(index: Int) -> Term? {
        tokens.indices.contains(index) ? tokens[index].term : nil
    }

    func word(_ index: Int) -> Word {
        tokens.indices.contains(index) ? tokens[index].word : Vocabulary.none
    }

    /// The text of a token. The text of a string excludes its quotes.
    func text(_ index: Int) -> String { vocabulary[word(index)] }

    func isWord(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .word }

    func isString(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .string }

    /// The matching bracket, or the last index of the file if a bracket is not closed.
    func partner(_ index: Int) -> Int { outline.partner(index) }

    /// The number of lines. A line break at the end begins no further line.
    var lineCount: Int { lineStarts.count - (bytes.last.map(Byte.isNewline) ?? true ? 1 : 0) }

    /// The line of a token, from 1.
    func line(_ index: Int) -> Int { line(at: Int(tokens[index].start)) }

    /// The line that contains a byte, from 1.
    func line(at offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(lineStarts[middle]) <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The column of a token in bytes, from 1, as compilers count it.
    func column(_ index: Int) -> Int {
        let start = Int(tokens[index].start)
        return start - Int(lineStarts[line(at: start) - 1]) + 1
    }

    /// The function that receives the argument behind a colon.
    func callee(ofArgument colon: Int) -> Int? {
        for position in stride(from: colon, to: max(0, colon - 40), by: -1) where self[position] == .openParen {
            if partner(position) > colon { return position - 1 }
        }
        return nil
    }

    /// Whether a token is the first on its line.
    func isFirstOnLine(_ index: Int) -> Bool {
        index == 0 || line(index) != line(index - 1)
    }

    /// The contents of a line, numbered from 1; at most 300 bytes of them.
    func contents(ofLine line: Int) -> String {
        let start = Int(lineStarts[line - 1])
        var end = line < lineStarts.count ? Int(lineStarts[line]) : bytes.count
        while end > start, Byte.isNewline(bytes[end - 1]) { end -= 1 }
        return String(decoding: bytes[start..<min(end, start + 300)], as: UTF8.self)
    }
}

extension Token {
    /// The term of the token. A string has none, regardless of its text.
    var term: Term? {
        switch kind {
        case .word, .mark, .directive: Term(word)
        case .number, .string, .regex: nil
        }
    }
}
