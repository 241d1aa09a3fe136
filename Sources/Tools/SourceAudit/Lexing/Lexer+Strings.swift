/// The delimiters of a string literal, and its place among other literals.
struct StringLiteral {
    /// The number of number signs.
    let hashes: Int
    /// Whether three quotes delimit the string, so that it can span several lines.
    let isMultiline: Bool
    /// The number of open parentheses at the beginning of the string.
    let depth: Int
}

extension Lexer {
    /// The maximum length of a string's contents that become the word of its token, in bytes.
    private static let longestWord = 200

    /// Begins a string at its first quote or first number sign.
    mutating func beginString(hashes: Int) {
        let start = position
        position += hashes
        let hasThreeQuotes = peek(1) == Byte.quote && peek(2) == Byte.quote
        let isMultiline = language == .swift && hasThreeQuotes && (hashes == 0 || endsLine(3))
        position += isMultiline ? 3 : 1
        let contents = position
        if !isMultiline, let word = plainWord(contents, hashes) {
            add(.string, from: start, word)
        } else {
            add(.string, from: start)
            strings.append(StringLiteral(hashes: hashes, isMultiline: isMultiline, depth: depth))
            continueString()
        }
    }

    /// Whether only blanks follow on the line, from `offset` bytes after the current position.
    private func endsLine(_ offset: Int) -> Bool {
        var offset = offset
        while Byte.isBlank(peek(offset)) { offset += 1 }
        return Byte.isNewline(peek(offset))
    }

    /// Reads a short string on one line without escapes, and advances behind it. Returns the word of its contents, or
    /// nil for other strings.
    private mutating func plainWord(_ contents: Int, _ hashes: Int) -> Word? {
        var end = contents
        while end < bytes.count, bytes[end] != Byte.quote {
            if bytes[end] == Byte.backslash || Byte.isNewline(bytes[end]) || end - contents > Self.longestWord {
                return nil
            }
            end += 1
        }
        guard end < bytes.count, isClosing(end + 1, hashes) else { return nil }
        position = end + 1 + hashes
        return vocabulary.word(bytes, contents, end)
    }

    private func isClosing(_ index: Int, _ hashes: Int) -> Bool {
        guard index + hashes <= bytes.count else { return false }
        for offset in 0..<hashes where bytes[index + offset] != Byte.hash { return false }
        return true
    }

    /// Lexes the innermost string from the position to its end or to the next interpolation.
    mutating func continueString() {
        guard let string = strings.last else { return }
        while !isAtEnd {
            switch bytes[position] {
            case Byte.backslash:
                if escape(string) { return }
            case Byte.quote:
                if closes(string) { return }
            case Byte.newline, Byte.return:
                if !string.isMultiline {
                    strings.removeLast()  // the string is not closed; the compiler also continues here after its error
                    return
                }
                breakLine()
            default:
                position += 1
            }
        }
        strings.removeLast()
    }

    /// Lexes a backslash. Returns whether an interpolation begins.
    private mutating func escape(_ string: StringLiteral) -> Bool {
        guard isClosing(position + 1, string.hashes) else {
            position += 1
            return false
        }
        position += 1 + string.hashes
        if language == .swift && peek() == Byte.openParen {
            position += 1
            return true
        }
        // An escaped character is skipped, except for a line break, which is counted.
        if !isAtEnd && !Byte.isNewline(bytes[position]) {
            position += 1
        } else if !isAtEnd && !string.isMultiline && language == .objectiveC {
            breakLine()
        }
        return false
    }

    /// Lexes a quote. Returns whether it ends the string.
    private mutating func closes(_ string: StringLiteral) -> Bool {
        let quotes = string.isMultiline ? 3 : 1
        for offset in 0..<quotes where peek(offset) != Byte.quote {
            position += 1
            return false
        }
        guard isClosing(position + quotes, string.hashes) else {
            position += 1
            return false
        }
        position += quotes + string.hashes
        strings.removeLast()
        return true
    }
}
