/// A string literal that has begun.
struct StringLiteral {
    /// Its number signs.
    let hashes: Int
    /// Whether three quotes delimit it, so that it can have many lines.
    let isMultiline: Bool
    /// The parentheses that are open around its interpolations.
    let depth: Int
}

extension Lexer {
    /// The longest contents that a string's token has as its word.
    private static let longestWord = 200

    /// At the first quote, or at the first number sign.
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

    /// Reads a short string on one line without escapes, and advances behind it. Returns its contents; nil for other
    /// strings.
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

    /// Continues within the innermost string, to its end or to the next interpolation.
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
                    strings.removeLast()  // it is not closed: the compiler would refuse it, and go on here too
                    return
                }
                breakLine()
            default:
                position += 1
            }
        }
        strings.removeLast()
    }

    /// At a backslash. Returns whether an interpolation begins.
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

    /// At a quote. Returns whether it ends the string.
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
