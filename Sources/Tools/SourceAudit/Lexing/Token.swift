/// A token of Swift or Objective-C. Comments and white space are not tokens. Interpolations in strings are lexed.
///
/// A token takes eight bytes, so that a file of 100 MB that contains only brackets still fits into memory. Its line is
/// found by a search in `SourceFile.lineStarts`.
struct Token {
    enum Kind: UInt8 {
        /// An identifier or a keyword. Its word excludes backticks, unless it would be a keyword without them.
        case word
        /// A bracket, an operator or a part of one. Its word is the text.
        case mark
        case number
        /// A string. Its word is the contents if they are short and without escapes; otherwise it is `Vocabulary.none`.
        case string
        case regex
        /// `#if`, `#selector`, or the name of a macro. Its word includes the number sign.
        case directive
    }

    /// The offset of the first byte.
    let start: UInt32
    private let bits: UInt32

    init(_ kind: Kind, start: Int, word: Word) {
        self.start = UInt32(start)
        bits = UInt32(kind.rawValue) << 29 | word.number
    }

    var kind: Kind { Kind(rawValue: UInt8(bits >> 29))! }
    var word: Word { Word(number: bits & 0x1FFF_FFFF) }
}

/// The number of a text in a vocabulary. Equal texts have equal numbers.
struct Word: Hashable {
    let number: UInt32
}
