/// A part of a source file that the guide shows.
///
/// In the source file, the region is between two comments on separate lines:
///
/// ```swift
/// // region: name-of-the-region
/// queue.addOperation { … }
/// // endregion
/// ```
///
/// Each name occurs once in a file, and regions must not overlap. `code` omits the indentation that all lines share.
public struct SourceRegion: Hashable, Sendable {
    public let name: String
    /// The lines between the comments, without the last line end.
    public let code: String

    /// An error in the comments of a file, with its line number, from 1.
    public enum Fault: Error, Hashable, Sendable {
        case opensWithinAnother(line: Int)
        case hasNoName(line: Int)
        case nameOccursTwice(String, line: Int)
        case closesNone(line: Int)
        case isNotClosed(String)
    }

    /// Returns the regions of a source file in order.
    public static func regions(in source: String) throws(Fault) -> [SourceRegion] {
        var regions: [SourceRegion] = []
        var open: (name: String, lines: [Substring])?
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            switch Marker(line) {
            case .opening(let name):
                if open != nil { throw .opensWithinAnother(line: index + 1) }
                if name.isEmpty { throw .hasNoName(line: index + 1) }
                if regions.contains(where: { $0.name == name }) { throw .nameOccursTwice(name, line: index + 1) }
                open = (name, [])
            case .closing:
                guard let region = open.take() else { throw .closesNone(line: index + 1) }
                regions.append(SourceRegion(name: region.name, code: withoutSharedIndentation(region.lines)))
            case nil:
                open?.lines.append(line)
            }
        }
        if let open { throw .isNotClosed(open.name) }
        return regions
    }

    private enum Marker {
        case opening(String)
        case closing

        init?(_ line: Substring) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// region:") {
                self = .opening(text.dropFirst("// region:".count).split(separator: " ").joined(separator: " "))
            } else if text == "// endregion" {
                self = .closing
            } else {
                return nil
            }
        }
    }

    private static func withoutSharedIndentation(_ lines: [Substring]) -> String {
        let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { $0.dropFirst(indentation) }.joined(separator: "\n")
    }
}
