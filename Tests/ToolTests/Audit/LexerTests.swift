import TestSupport
import Testing

@testable import SourceAudit

@Suite("The lexer", .inTurns)
struct LexerTests {
    private static func words(_ source: String, _ language: Lexer.Language = .swift) -> [String] {
        texts(source, language) { $0 == .word }
    }

    private static func texts(
        _ source: String, _ language: Lexer.Language = .swift, _ isWanted: (Token.Kind) -> Bool
    ) -> [String] {
        let vocabulary = Vocabulary()
        var lexer = Lexer(Array(source.utf8), language, vocabulary)
        lexer.run()
        return lexer.tokens.filter { isWanted($0.kind) }.map { vocabulary[$0.word] }
    }

    @Test("Comments are passed over, nested in Swift and not in Objective-C")
    func comments() {
        #expect(Self.words("a // b\nc /* d /* e */ f */ g") == ["a", "c", "g"])
        #expect(Self.words("a /* d /* e */ f", .objectiveC) == ["a", "f"])
        #expect(Self.words("a /* never closed") == ["a"])
    }

    @Test(
        "What is in a string is no word, but for what is interpolated",
        arguments: [
            (#"a "b" c"#, ["a", "c"]),
            (#"a "b \(c) d" e"#, ["a", "c", "e"]),
            (#"a "b \(c("d \(e) f")) g" h"#, ["a", "c", "e", "h"]),
            ("a #\"b \\(c) \"d\" \\#(e)\"# f", ["a", "e", "f"]),
            ("a \"\"\"\n b \" c \\(d)\n\"\"\" e", ["a", "d", "e"]),
            ("a #\"\"\"#\nb", ["a", "b"]),
            ("a #\"\"\"\n b \"\"\" c\n\"\"\"# d", ["a", "d"]),
            (#"a "b \" c" d"#, ["a", "d"]),
            ("a \"never closed\nb", ["a", "b"]),
        ])
    func strings(source: String, words: [String]) {
        #expect(Self.words(source) == words)
    }

    @Test(
        "A slash divides after a value, and begins a regular expression elsewhere",
        arguments: [
            ("a / b / c", ["a", "b", "c"]), ("let x = /b c/", ["let", "x"]), ("f(/b/, c)", ["f", "c"]),
            ("return /b[/]c/ d", ["return", "d"]), ("x = #/ b / c /# d", ["x", "d"]),
            ("a(b)/c/d", ["a", "b", "c", "d"]),
            ("reduce(0, /) + b", ["reduce", "b"]), ("#/\n b\n/# c", ["c"]),
            (#"f(of: /\("a"\)/) + b"#, ["f", "of", "b"]), (#"f(/\(/) + b"#, ["f", "b"]),
            (#"let a = /x\("/; b"#, ["let", "a", "b"]), (#"let a = #/x\("/#; b"#, ["let", "a", "b"]),
            ("a\n/\\(b/\nc", ["a", "c"]), ("Regex {\n\"a\"\n/\\(\"/\n}\nb", ["Regex", "b"]),
            (#""\(a.f(/\(b"/))c" d"#, ["a", "f", "d"]), (#""\(a.f(#/\)"/#))c" d"#, ["a", "f", "d"]),
            ("\"\"\"\n\\(a(\"b\", \"\"\"\n c \"\n \"\"\"))\n\"\"\" d", ["a", "d"]),
            (##"#"a \(b) \#(c(#"d" \#(e)"#)) \"# f"##, ["c", "e", "f"]),
            (###"##"a "# \#(b) \##(c) "## d"###, ["c", "d"]), ("a ? /b/ : /c/", ["a"]), ("a /b/ c", ["a", "c"]),
            ("a.b /\nc /d", ["a", "b", "c", "d"]), ("x = a /\\\nb", ["x", "a", "b"]),
            ("f(a: /, b: /)", ["f", "a", "b"]),
            ("try! /\\(\"/ .g", ["try", "g"]), ("x = y/2; \"a/\\(b)\"", ["x", "y", "b"]),
            ("(/a\\(\"/, b)", ["b"]), ("a! /b\\(\"/\nc", ["a", "c"]), ("if /\\(\"/ ~= a {}", ["if", "a"]),
            ("x = /[\\(\"/]/; b", ["x", "b"]), ("x = /(\\()\"/; b", ["x", "b"]), ("a{/\\(\"/}b", ["a", "b"]),
        ])
    func slashes(source: String, words: [String]) {
        #expect(Self.words(source) == words)
    }

    @Test("Words in backticks are the words, unless they would be keywords then")
    func backticks() {
        #expect(Self.words("`queue` `class`") == ["queue", "`class`"])
    }

    @Test("Directives are one token, with blanks in Objective-C")
    func directives() {
        #expect(Self.texts("#if os(Linux)\n#selector(a)") { $0 == .directive } == ["#if", "#selector"])
        #expect(
            Self.texts("#  ifdef X\n#pragma mark don't\nb", .objectiveC) { $0 == .directive } == ["#ifdef", "#pragma"])
        #expect(Self.words("#pragma mark don't\nb", .objectiveC) == ["b"])
    }

    @Test("Objective-C's characters, strings and continued lines")
    func objectiveC() {
        #expect(Self.words(#"a = '"'; b = @"c"; d"#, .objectiveC) == ["a", "b", "d"])
        #expect(Self.words("a = \"b\\\nc\"; d", .objectiveC) == ["a", "d"])
    }

    @Test("Numbers are one token each, and members of tuples are not joined")
    func numbers() {
        let numbers = Self.texts("1.5e-3 0x1F.8p-2 0xA.e1fP-2 0xFF.description 1_000 a.0.1 1..<2 3.self") {
            $0 == .number
        }
        #expect(
            numbers == ["1.5e-3", "0x1F.8p-2", "0xA.e1fP-2", "0xFF", "1_000", "0", "1", "1", "2", "3"])
    }

    @Test("Lines are counted at every kind of break")
    func lines() {
        let file = SourceFile(
            path: "a.swift", number: 0, bytes: Array("a\nb\r\nc\rd \"\"\"\n\n\"\"\" e".utf8), vocabulary: Vocabulary())
        #expect((0..<file.tokens.count).map { file.line($0) } == [1, 2, 3, 4, 4, 6])
        #expect(file.column(5) == 5)
    }
}
