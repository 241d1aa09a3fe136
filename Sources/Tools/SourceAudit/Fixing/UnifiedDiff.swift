/// The difference between two texts, in the format of `patch` and `git apply`.
struct UnifiedDiff {
    let text: String

    private enum Line {
        case both(Substring), old(Substring), new(Substring)

        var isChange: Bool { if case .both = self { false } else { true } }
    }

    init(path: String, old: String, new: String) {
        let lines = Self.lines(Self.split(old), Self.split(new))
        let changes = lines.indices.filter { lines[$0].isChange }
        guard !changes.isEmpty else {
            text = ""
            return
        }
        var ranges: [Range<Int>] = []
        for change in changes {
            let range = max(0, change - 3)..<min(lines.count, change + 4)
            if let last = ranges.last, last.upperBound >= range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        var result = "--- \(Self.quoted("a/\(path)"))\n+++ \(Self.quoted("b/\(path)"))\n"
        var (place, oldLine, newLine) = (0, 1, 1)
        for range in ranges {
            oldLine += range.lowerBound - place
            newLine += range.lowerBound - place
            let (oldStart, newStart) = (oldLine, newLine)
            var body = ""
            for line in lines[range] {
                switch line {
                case .both(let text): (body, oldLine, newLine) = (body + Self.line(" ", text), oldLine + 1, newLine + 1)
                case .old(let text): (body, oldLine) = (body + Self.line("-", text), oldLine + 1)
                case .new(let text): (body, newLine) = (body + Self.line("+", text), newLine + 1)
                }
            }
            place = range.upperBound
            result += "@@ -\(oldStart),\(oldLine - oldStart) +\(newStart),\(newLine - newStart) @@\n" + body
        }
        text = result
    }

    /// The path, in quotes and with octal bytes as git writes it if it has special characters.
    private static func quoted(_ path: String) -> String {
        guard path.shown != path || path.contains(where: { "\"\\".contains($0) }) else { return path }
        let bytes = path.utf8.map { byte in
            guard (0x20..<0x7F).contains(byte), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                let digits = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
            return String(UnicodeScalar(byte))
        }
        return "\"\(bytes.joined())\""
    }

    private static func line(_ mark: String, _ text: Substring) -> String {
        text.utf8.last == Byte.newline ? mark + text : mark + text + "\n\\ No newline at end of file\n"
    }

    /// The lines of a text, with their line breaks.
    private static func split(_ text: String) -> [Substring] {
        var lines: [Substring] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex { $0 == "\n" || $0 == "\r\n" }.map(text.index(after:)) ?? text.endIndex
            lines.append(text[start..<end])
            start = end
        }
        return lines
    }

    private static func lines(_ old: [Substring], _ new: [Substring]) -> [Line] {
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (o, n) = (0, 0)
        while o < old.count || n < new.count {
            if o < old.count, removed.contains(o) {
                lines.append(.old(old[o]))
                o += 1
            } else if n < new.count, inserted.contains(n) {
                lines.append(.new(new[n]))
                n += 1
            } else {
                lines.append(.both(old[o]))
                (o, n) = (o + 1, n + 1)
            }
        }
        return lines
    }
}
