extension Lexer {
    /// Whether a slash at the position is a division, because it follows a value. As in the compiler, a slash after a
    /// blank and before a non-blank begins a regular expression instead.
    var isAfterOperand: Bool {
        guard let last = tokens.last, !isAfterBlank || Byte.isBlank(peek(1)) else { return false }
        switch last.kind {
        case .number, .string, .regex: return true
        case .directive: return false
        case .word:
            switch Term(last.word) {
            case .return, .in, .case, .if, .while, .guard, .let, .var, .try, .await, .else, .where, .is, .as, .throw,
                .switch, .do, .yield, .repeat, .for:
                return false
            default: return true
            }
        case .mark:
            switch Term(last.word) {
            case .closeParen, .closeSquare, .closeBrace: return true
            case .exclamation, .question: return Int(last.start) + 1 == position
            default: return false
            }
        }
    }

    private var isAfterBlank: Bool {
        position > 0 && (Byte.isBlank(bytes[position - 1]) || Byte.isNewline(bytes[position - 1]))
    }

    /// Lexes `#/…/#` from the first number sign. It spans several lines if a line break follows the slash.
    mutating func lexRegex(hashes: Int) {
        let start = position
        position += hashes + 1
        var offset = 0
        while Byte.isBlank(peek(offset)) { offset += 1 }
        let isMultiline = Byte.isNewline(peek(offset))
        scan: while !isAtEnd {
            switch bytes[position] {
            case Byte.backslash:
                position += 1
                if !isAtEnd, !Byte.isNewline(bytes[position]) { position += 1 }
            case Byte.newline, Byte.return:
                if !isMultiline { break scan }
                breakLine()
            case Byte.slash where hasHashes(hashes):
                position += 1 + hashes
                break scan
            default:
                position += 1
            }
        }
        add(.regex, from: start)
    }

    private func hasHashes(_ hashes: Int) -> Bool {
        for offset in 1...hashes where peek(offset) != Byte.hash { return false }
        return true
    }

    /// Lexes `/…/` on one line, by the rules of the compiler: no blank after the first slash or before the last, and
    /// balanced parentheses. If the text is not a regular expression, returns false without advancing.
    mutating func lexBareRegex() -> Bool {
        switch peek(1) {
        case 0, 9, 32, Byte.newline, Byte.return, Byte.closeParen, Byte.comma, Byte.closeSquare, Byte.closeBrace:
            return false
        default: break
        }
        guard position >= regexFreeUntil else { return false }
        let (end, isRegex) = bareRegexEnd()
        guard isRegex else {
            // Notes the bytes that were searched, so that no byte is searched twice. Otherwise a line of slashes would
            // take quadratic time.
            if end - position > 256 { regexFreeUntil = end }
            return false
        }
        let start = position
        position = end
        add(.regex, from: start)
        return true
    }

    /// The end of a regular expression at the position, or the end of the bytes that were searched without finding one.
    private func bareRegexEnd() -> (end: Int, isRegex: Bool) {
        var index = position + 1
        var isInSet = false
        var depth = 0
        while index < bytes.count, !Byte.isNewline(bytes[index]) {
            switch bytes[index] {
            case Byte.backslash: if index + 1 < bytes.count, !Byte.isNewline(bytes[index + 1]) { index += 1 }
            case Byte.openSquare: isInSet = true
            case Byte.closeSquare: isInSet = false
            case Byte.openParen where !isInSet: depth += 1
            case Byte.closeParen where !isInSet:
                depth -= 1
                if depth < 0 { return (index, false) }
            case Byte.slash where !isInSet:
                return (index + 1, depth == 0 && !Byte.isBlank(bytes[index - 1]))
            default: break
            }
            index += 1
        }
        return (min(index, bytes.count), false)
    }
}
