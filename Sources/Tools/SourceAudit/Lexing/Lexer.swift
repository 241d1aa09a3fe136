/// Splits a source into tokens, in one pass and in linear time. Any bytes are valid: an unclosed token ends with the
/// file. Nesting is kept in arrays, not on the call stack.
struct Lexer {
    enum Language {
        case swift, objectiveC
    }

    let bytes: [UInt8]
    let language: Language
    let vocabulary: Vocabulary
    private(set) var tokens: [Token] = []
    /// The offsets at which lines begin; the first is 0.
    private(set) var lineStarts: [UInt32] = [0]
    /// The ranges of the comments for the audit, without their comment marks.
    var directives: [Range<Int>] = []

    var position = 0
    /// The strings whose interpolation is being lexed, innermost last.
    var strings: [StringLiteral] = []
    /// The number of open parentheses.
    private(set) var depth = 0
    /// The position before which no slash begins a regular expression.
    var regexFreeUntil = 0

    init(_ bytes: [UInt8], _ language: Language, _ vocabulary: Vocabulary) {
        self.bytes = bytes
        self.language = language
        self.vocabulary = vocabulary
        tokens.reserveCapacity(bytes.count / 5)
    }

    /// The byte at an offset from the position; 0 behind the end.
    @inline(__always)
    func peek(_ offset: Int = 0) -> UInt8 {
        position + offset < bytes.count ? bytes[position + offset] : 0
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func add(_ kind: Token.Kind, from start: Int, _ word: Word = Vocabulary.none) {
        tokens.append(Token(kind, start: start, word: word))
    }

    /// Records the line that begins behind a break at the position, and advances to it.
    mutating func breakLine() {
        position += bytes[position] == Byte.return && peek(1) == Byte.newline ? 2 : 1
        lineStarts.append(UInt32(position))
    }

    /// The bytes of a mark at the beginning of some files, which is not part of the first word.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    mutating func run() {
        if bytes.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
        while !isAtEnd { lexOne() }
    }

    private mutating func lexOne() {
        let byte = bytes[position]
        switch byte {
        case Byte.newline, Byte.return: breakLine()
        case 0, 9, 11, 12, 32: position += 1
        case Byte.slash where peek(1) == Byte.slash: lineComment()
        case Byte.slash where peek(1) == Byte.star: blockComment()
        case Byte.slash where language == .swift && !isAfterOperand && lexBareRegex(): break
        case Byte.quote: beginString(hashes: 0)
        case Byte.hash: lexHash()
        case Byte.backtick where language == .swift: lexQuotedWord()
        case Byte.apostrophe where language == .objectiveC: lexCharacter()
        case 48...57: lexNumber()
        case Byte.openParen:
            depth += 1
            lexMark(length: 1)
        case Byte.closeParen: closeParen()
        default:
            if Byte.isWordStart(byte) { lexWord() } else { lexMark(length: markLength(byte)) }
        }
    }

    private mutating func closeParen() {
        if let string = strings.last, string.depth == depth {
            position += 1
            continueString()
        } else {
            depth = max(0, depth - 1)
            lexMark(length: 1)
        }
    }

    private mutating func lexMark(length: Int) {
        let start = position
        position = min(position + length, bytes.count)
        add(.mark, from: start, vocabulary.word(bytes, start, position))
    }

    /// The length of a mark. The length is 1, except for marks whose parts have other meanings: `->`, `==`, `===`,
    /// `!=`, `!==`, `&&`, `||`.
    private func markLength(_ byte: UInt8) -> Int {
        switch (byte, peek(1)) {
        case (Byte.minus, Byte.greater), (Byte.ampersand, Byte.ampersand), (Byte.bar, Byte.bar): 2
        case (Byte.equal, Byte.equal), (Byte.exclamation, Byte.equal): peek(2) == Byte.equal ? 3 : 2
        default: 1
        }
    }

    private mutating func lexWord() {
        let start = position
        while Byte.isWord(peek()) { position += 1 }
        add(.word, from: start, vocabulary.word(bytes, start, position))
    }

    /// Lexes a word in backticks, which ends at the latest with its line.
    private mutating func lexQuotedWord() {
        let start = position
        position += 1
        while !isAtEnd, bytes[position] != Byte.backtick, !Byte.isNewline(bytes[position]) { position += 1 }
        let plain = vocabulary.word(bytes, start + 1, position)
        if !isAtEnd, bytes[position] == Byte.backtick { position += 1 }
        add(.word, from: start, Term(plain) == nil ? plain : vocabulary.word(bytes, start, position))
    }

    private mutating func lexNumber() {
        let start = position
        while true {
            let byte = peek()
            if Byte.isWord(byte) {
                position += 1
            } else if byte == Byte.dot && !isAfterDot(start) && (Byte.isDigit(peek(1)) || isHexFraction(start)) {
                position += 1
            } else if byte == Byte.apostrophe && language == .objectiveC && Byte.isWord(peek(1)) {
                position += 1
            } else if byte == Byte.minus || byte == Byte.plus, isExponent(start) {
                position += 1
            } else {
                break
            }
        }
        add(.number, from: start, vocabulary.word(bytes, start, position))
    }

    /// Whether a dot at the position is part of a number, as in `0xA.Ep1` but not in `0xA.description`.
    private func isHexFraction(_ start: Int) -> Bool {
        guard position - start > 2, bytes[start + 1] | 32 == UInt8(ascii: "x") else { return false }
        var offset = 1
        while Byte.isHexDigit(peek(offset)) { offset += 1 }
        return offset > 1 && peek(offset) | 32 == UInt8(ascii: "p")
    }

    /// Whether a sign at the position is part of a number, as in `1e-5`.
    private func isExponent(_ start: Int) -> Bool {
        let last = bytes[position - 1] | 32
        let isHex = position - start > 2 && bytes[start + 1] | 32 == UInt8(ascii: "x")
        return Byte.isDigit(peek(1)) && last == (isHex ? UInt8(ascii: "p") : UInt8(ascii: "e"))
    }

    /// Whether a number is the index of a tuple's element: `pair.0.1` has two of them.
    private func isAfterDot(_ start: Int) -> Bool {
        start > 0 && bytes[start - 1] == Byte.dot
    }

    private mutating func lexCharacter() {
        let start = position
        position += 1
        while !isAtEnd, bytes[position] != Byte.apostrophe, !Byte.isNewline(bytes[position]) {
            position += bytes[position] == Byte.backslash ? 2 : 1
        }
        position = min(position, bytes.count)
        if peek() == Byte.apostrophe { position += 1 }
        add(.number, from: start)
    }
}
