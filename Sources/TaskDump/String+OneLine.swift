extension String {
    /// Returns the text with replaced scalars. A format gives a scalar its meaning even if a combining mark follows the
    /// scalar. The two are one character, so a comparison of characters would miss the scalar.
    ///
    /// - Parameter replacement: The text that replaces a scalar; nil if the scalar stays.
    package func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
        // An addition of several scalars to a view of scalars copies the whole view.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            if let text = replacement(scalar) {
                bytes.append(contentsOf: text.utf8)
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar)!)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text on one line, for lists and drawings. Control characters and line separators are replaced by spaces.
    /// U+FFFE and U+FFFF, which no XML document may contain, are removed.
    package var onOneLine: String {
        // Most names are like this, and a dump has many.
        if utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return self }
        return replacingScalars { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: " "
            case 0xFFFE, 0xFFFF: ""
            default: nil
            }
        }
    }

    /// The text on one line, for an element or a quoted attribute of HTML or XML.
    package var escapedForMarkup: String {
        onOneLine.replacingScalars { scalar in
            switch scalar {
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            case "\"": "&quot;"
            default: nil
            }
        }
    }
}
