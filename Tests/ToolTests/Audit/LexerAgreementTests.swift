import Foundation
import TestSupport
import Testing

@testable import SourceAudit

/// Compares the lexer with the toolchain's own tokens.
///
/// `AUDIT_CODE_BASE=/path TASK_OPERATIONS_DEEP=1 swift test --filter LexerAgreementTests` compares another code base.
@Suite("The lexer beside the toolchain's", .inTurns)
struct LexerAgreementTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test("Both find the same words", .enabled(if: environment["TASK_OPERATIONS_DEEP"] != nil))
    func words() throws {
        guard let sourceKit = SourceKit() else { return }
        let roots = Self.environment["AUDIT_CODE_BASE"].map { [$0] }
        let package = ["Sources", "Tests"].map { Guide.package.appending(path: $0).path }
        var words = 0
        var meant = 0
        var differences: [String] = []
        for path in FileWalk(roots ?? package).paths where path.hasSuffix(".swift") {
            let absolute = URL(filePath: path).standardizedFileURL.path
            guard let data = FileManager.default.contents(atPath: absolute) else { continue }
            let bytes = [UInt8](data)
            let ours = Ours(bytes)
            let theirs = Self.words(of: sourceKit.pieces(of: absolute), bytes)
            words += theirs.count
            for start in ours.words.symmetricDifference(theirs).sorted() {
                if ours.isMeant(start) {
                    meant += 1
                    continue
                }
                let line = bytes[..<start].count { $0 == Byte.newline } + 1
                let text = String(decoding: bytes[start..<min(start + 20, bytes.count)], as: UTF8.self)
                differences.append(
                    "\(path):\(line) \(ours.words.contains(start) ? "ours" : "theirs"): \(text.debugDescription)")
            }
        }
        print("\(words) words, \(meant) meant and \(differences.count) other differences")
        #expect(words > 100_000)
        #expect(differences.isEmpty, "\(differences.prefix(100).joined(separator: "\n"))")
    }

    private static let wordKinds: Set<Substring> = [
        "keyword", "identifier", "typeidentifier", "attribute.builtin", "attribute.id", "argument", "parameter",
    ]

    /// Returns the offsets at which words begin in tokens that are words or contain some.
    private static func words(of pieces: [SourceKit.Piece], _ bytes: [UInt8]) -> Set<Int> {
        var words: Set<Int> = []
        for piece in pieces where wordKinds.contains(piece.kind) {
            for index in piece.range where Byte.isWordStart(bytes[index]) {
                if index == piece.range.lowerBound || !Byte.isWord(bytes[index - 1]) { words.insert(index) }
            }
        }
        return words
    }
}

/// The lexer's tokens of a source.
private struct Ours {
    /// The offsets at which words begin, without their backticks.
    let words: Set<Int>
    private let bytes: [UInt8]
    private let tokens: [Token]

    init(_ bytes: [UInt8]) {
        var lexer = Lexer(bytes, .swift, Vocabulary())
        lexer.run()
        self.bytes = bytes
        tokens = lexer.tokens
        words = Set(
            tokens.filter { $0.kind == .word }.map { token in
                let start = Int(token.start)
                return bytes[start] == Byte.backtick ? start + 1 : start
            })
    }

    /// Whether a difference at an offset is one of five known and intended ones.
    func isMeant(_ start: Int) -> Bool {
        // `yield` is a keyword in accessors, but sourcekitd does not report it.
        if words.contains(start) { return bytes[start...].starts(with: "yield".utf8) }
        let before = start > 0 ? bytes[start - 1] : 0
        // A word after a number sign is part of one token of this lexer, which is not a word. The compiler treats the
        // string of an attribute, as in `@_cdecl("name")`, as a name.
        if before == Byte.hash || before == Byte.quote { return true }
        // A name in backticks is one word for this lexer. sourcekitd does not know the language mode, and reads a
        // regular expression between single slashes as operators and names.
        guard let token = tokens.last(where: { Int($0.start) <= start }) else { return false }
        return token.kind == .regex || bytes[Int(token.start)] == Byte.backtick
    }
}
