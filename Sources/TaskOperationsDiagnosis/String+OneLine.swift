extension String {
    /// Returns the text with replaced scalars. A format gives a scalar its meaning even if a combining mark follows the
    /// scalar. The two are one character, so a comparison of characters would miss the scalar.
    ///
    /// - Parameter replacement: The text that replaces a scalar; nil if the scalar stays.
    package func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
        var result = String.UnicodeScalarView()
        result.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            if let text = replacement(scalar) {
                result.append(contentsOf: text.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The text on one line, for lists and drawings. Control characters and line separators are replaced by spaces.
    /// U+FFFE and U+FFFF, which no XML document may contain, are removed.
    package var onOneLine: String {
        replacingScalars { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: " "
            case 0xFFFE, 0xFFFF: ""
            default: nil
            }
        }
    }
}
