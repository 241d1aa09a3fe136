extension Lexer {
    /// The first word of a comment for the audit.
    private static let mark = Array("audit:".utf8)

    mutating func lineComment() {
        let start = position + 2
        while !isAtEnd, !Byte.isNewline(bytes[position]) { position += 1 }
        note(start..<position)
    }

    /// Skips a block comment. In Swift, block comments can be nested.
    mutating func blockComment() {
        let start = position + 2
        var depth = 0
        while !isAtEnd {
            switch (bytes[position], peek(1)) {
            case (Byte.slash, Byte.star) where depth == 0 || language == .swift:
                depth += 1
                position += 2
            case (Byte.star, Byte.slash):
                depth -= 1
                position += 2
                if depth == 0 { return note(start..<position - 2) }
            case (Byte.newline, _), (Byte.return, _):
                breakLine()
            default:
                position += 1
            }
        }
    }

    private mutating func note(_ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound, Byte.isBlank(bytes[start]) { start += 1 }
        guard range.upperBound - start > Self.mark.count,
            bytes[start..<start + Self.mark.count].elementsEqual(Self.mark)
        else { return }
        directives.append(start + Self.mark.count..<range.upperBound)
    }

    /// Lexes a number sign: a string or a regular expression with number signs, a directive, or the first line of a
    /// script.
    mutating func lexHash() {
        var hashes = 1
        if language == .swift {
            while peek(hashes) == Byte.hash { hashes += 1 }
            if peek(hashes) == Byte.quote { return beginString(hashes: hashes) }
            if peek(hashes) == Byte.slash { return lexRegex(hashes: hashes) }
            if tokens.isEmpty && lineStarts.count == 1 && peek(1) == Byte.exclamation { return skipLine() }
        }
        let start = position
        position += hashes
        if language == .objectiveC { while Byte.isBlank(peek()) { position += 1 } }
        let name = position
        while Byte.isWord(peek()) { position += 1 }
        let word = name == start + hashes ? vocabulary.word(bytes, start, position) : spacedDirective(name)
        add(.directive, from: start, word)
        // The rest of the line is not code: an apostrophe in it would begin a character literal.
        switch Term(word) {
        case .pragmaDirective, .errorDirective, .warningDirective: if language == .objectiveC { skipLine() }
        default: break
        }
    }

    /// The word of `# define`, which equals the word of `#define`.
    private func spacedDirective(_ name: Int) -> Word {
        let text = [Byte.hash] + bytes[name..<position]
        return vocabulary.word(text, 0, text.count)
    }

    private mutating func skipLine() {
        while !isAtEnd, !Byte.isNewline(bytes[position]) { position += 1 }
    }
}
