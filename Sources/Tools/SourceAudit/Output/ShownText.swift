extension StringProtocol {
    /// The text for a terminal. Characters that move the cursor, end the line or change the direction of text are
    /// escaped, because names of files and comments may contain them.
    var shown: String {
        unicodeScalars.contains(where: \.isHidden)
            ? unicodeScalars.map { $0.isHidden ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0) }
                .joined() : String(self)
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default:
            // The marks, embeddings, overrides and isolates of bidirectional text.
            value == 0x061C || (0x200E...0x200F).contains(value) || (0x202A...0x202E).contains(value)
                || (0x2066...0x2069).contains(value)
        }
    }
}
