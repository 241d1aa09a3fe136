/// The imports of a file outside `#if`, and the place of further ones.
struct FileImports {
    private let file: SourceFile
    /// The tokens of the keyword `import`.
    private let tokens: [Int]

    init(_ file: SourceFile) {
        self.file = file
        tokens = file.tokens.indices.filter { index in
            file[index] == .import && file.outline.scope(of: index) == 0 && file.outline.condition(of: index) == 0
        }
    }

    /// Modules that only Apple's systems have.
    static let apple: Set<String> = [
        "os", "UIKit", "AppKit", "SwiftUI", "Combine", "Darwin", "WatchKit", "ObjectiveC", "CoreData", "CoreGraphics",
        "AVFoundation", "CoreLocation", "Security", "StoreKit", "WebKit", "Network", "NetworkExtension",
        "UserNotifications",
        "CoreBluetooth", "Photos", "QuartzCore", "CoreImage", "MapKit", "SwiftData", "WidgetKit", "OSLog",
    ]

    /// Modules that are known to declare no type with the name of a type in Synchronization.
    private static let plain = apple.union([
        "Foundation", "Dispatch", "XCTest", "Testing", "Glibc", "FoundationNetworking",
    ])

    private static let types = ["Mutex", "Atomic", "AtomicLazyReference", "AtomicRepresentable", "WordPair"]

    /// The imported modules.
    var modules: Set<String> { Set(tokens.map { file.text(name(at: $0)) }) }

    /// The token of the module's name: behind the kind of declaration in `import struct A.B`.
    private func name(at index: Int) -> Int {
        file.isFirstOnLine(index + 2) || file[index + 2] == .dot || file[index + 2] == .semicolon
            || !file.isWord(index + 2)
            ? index + 1 : index + 2
    }

    /// The insertion of an import; none if the file has it.
    func adding(_ module: String) -> [Edit] {
        let hasModule = tokens.contains { file.text($0 + 1) == module && file[$0 + 2] != .dot }
        guard !hasModule else { return [] }
        let place = place
        let text = declaration(of: module) + (file.lineBreak ?? "\n")
        return [Edit(range: place..<place, text: text)]
    }

    /// The import of a module, or of its lock alone if other names of the module could become ambiguous. `os` has a
    /// `Logger`, as many packages have.
    private func declaration(of module: String) -> String {
        if module == "os" { return "import struct os.OSAllocatedUnfairLock" }
        let others = Set(Self.types.dropFirst().map { file.vocabulary[$0] })
        let isAmbiguous =
            !modules.isSubset(of: Self.plain) || file.tokens.contains { $0.kind == .word && others.contains($0.word) }
        return module == "Synchronization" && isAmbiguous ? "import struct Synchronization.Mutex" : "import \(module)"
    }

    /// The offset behind the last import. In a file without imports, the offset behind its first comments, but before
    /// comments that belong to the first declaration.
    private var place: Int {
        if let last = tokens.last {
            let line = file.line(last)
            return line < file.lineStarts.count ? file.lineStart(line + 1) : file.bytes.count
        }
        let comments = LeadingComments(file).comments
        let end = file.tokens.first.map { Int($0.start) } ?? file.bytes.count
        var next = end
        for comment in comments.reversed() {
            let isApart = file.line(at: next) - file.line(at: comment.range.upperBound) > 1
            if comment.belongsToNext || !isApart { next = comment.range.lowerBound } else { break }
        }
        // A header without an empty line behind it does not belong to the declaration.
        if let first = comments.first, next == first.range.lowerBound {
            next = comments.first { $0.belongsToNext }?.range.lowerBound ?? end
        }
        return max(file.startOfText, file.lineStart(file.line(at: next)))
    }
}

/// The comments before the first token of a file.
private struct LeadingComments {
    struct Comment {
        let range: Range<Int>
        /// Whether the comment documents the next declaration, or is a command for its next line.
        let belongsToNext: Bool
    }

    private(set) var comments: [Comment] = []

    init(_ file: SourceFile) {
        let (bytes, end) = (file.bytes, file.tokens.first.map { Int($0.start) } ?? file.bytes.count)
        var position = file.startOfText
        while position < end {
            let start = position
            guard bytes[position] == Byte.slash || bytes[position] == Byte.hash, position + 1 < end else {
                position += 1
                continue
            }
            if bytes[position + 1] == Byte.star {
                var depth = 0
                repeat {
                    let isOpen = bytes[position] == Byte.slash && bytes[position + 1] == Byte.star
                    let isClose = bytes[position] == Byte.star && bytes[position + 1] == Byte.slash
                    depth += isOpen ? 1 : isClose ? -1 : 0
                    position += isOpen || isClose ? 2 : 1
                } while depth > 0 && position + 1 < end
            } else {
                while position < end, !Byte.isNewline(bytes[position]) { position += 1 }
            }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            let isCommand = text.contains(":next")
            comments.append(
                Comment(
                    range: start..<position,
                    belongsToNext: text.hasPrefix("///") || text.hasPrefix("/**") || isCommand))
        }
    }
}

extension SourceFile {
    var imports: Set<String> { FileImports(self).modules }

    /// The break at the ends of all lines; nil if lines have different breaks.
    var lineBreak: String? {
        let ends = lineStarts.dropFirst().map { Int($0) - 1 }
        guard ends.allSatisfy({ bytes[$0] == Byte.newline }) else { return nil }
        let count = ends.count { $0 > 0 && bytes[$0 - 1] == Byte.return }
        return count == 0 ? "\n" : count == ends.count ? "\r\n" : nil
    }

    /// The offset behind a byte order mark.
    var startOfText: Int { bytes.starts(with: Lexer.byteOrderMark) ? Lexer.byteOrderMark.count : 0 }
}
