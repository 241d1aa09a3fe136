import Foundation
import TestSupport
import Testing

@testable import SourceAudit

/// A source may have any contents. No contents may end the audit or make it slow.
@Suite("Hostile sources", .computing)
struct HostileSourceTests {
    /// Pieces that are difficult for a lexer or a scan for brackets if they are repeated many times.
    private static let pieces = [
        "(", ")", "[", "]", "{", "}", "<", ">", "\"", "\"\"\"", "\\(", "\"\\(", "#", "##\"", "/*", "*/", "//", "/",
        "=/[",
        "/[", "'", "`", "\\", "#if a\n", "#else\n", "#endif\n", "class A: B { ", "func f(a: B = { ", "if a { ",
        "case .a(let b",
        ".a", ".a()", "a.b { ", "a?", "let q = ", "queue.sync { ", "addDependency(", "x.addDependency(y)\n", "@", "\r",
        "\0",
        "a.map { $0.", "[[[ Operation", "$0.cancel() }", "DispatchQueue.main.async { ", "lock.lock()\n", "var a: ",
        "for a in b { ", "extension A { ", "\u{FF}", "-> ", ": ", "= .main", "let s = DispatchSemaphore(value: 1)\n",
        "let queue = DispatchQueue(label: \"a\")\n", "item = DispatchWorkItem { }\nitem.cancel()\n",
        "- (void)a:(NSOperation *)b { [", "@interface A : B\n", "[NSLock new]", "@synchronized(",
        "// audit:allow(x) y\n",
    ]

    private static func audit(_ bytes: [UInt8], _ path: String) -> Int {
        Auditor.findings(in: bytes, path: path).count
    }

    @Test("Any piece many times over is audited", arguments: pieces)
    func repeated(piece: String) {
        let bytes = Array(String(repeating: piece, count: 300).utf8)
        for path in ["a.swift", "a.m"] { _ = Self.audit(bytes, path) }
    }

    @Test("Any two pieces many times over are audited")
    func pairs() {
        for (number, one) in Self.pieces.enumerated() {
            let other = Self.pieces[(number * 7 + 3) % Self.pieces.count]
            let bytes = Array(String(repeating: one + other, count: 60).utf8)
            for path in ["a.swift", "a.m"] { _ = Self.audit(bytes, path) }
        }
    }

    @Test("Random bytes and random pieces are audited", arguments: 0..<20)
    func random(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ count: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(count))
        }
        let bytes = (0..<1500).map { _ in UInt8(next(256)) }
        let text = (0..<250).map { _ in Self.pieces[next(Self.pieces.count)] }.joined()
        for path in ["a.swift", "a.m"] {
            _ = Self.audit(bytes, path)
            _ = Self.audit(Array(text.utf8), path)
        }
    }

    @Test("Every beginning of a source is audited")
    func truncated() {
        let source = Array(
            """
            class A: Operation { let q = DispatchQueue(label: "a\\(b)"); override func main() { q.sync { if let x { return } } } }
            #if os(Linux)
            let s = /a[b]/; let t = #\"\"\"
             x \\#(y)
             \"\"\"#
            #endif
            """.utf8)
        for end in 0...source.count { _ = Self.audit(Array(source[..<end]), "a.swift") }
    }

    @Test(
        "Twice the source costs about twice the steps",
        arguments: [
            "q.async { g.enter(); s.wait() }\n", "(", "{", "=/[/", "a.b().c[1].d { $0.e }.f()\n", "\"\\(a)\"", "##",
            "class A { class B { ", "func f(q: DispatchQueue = .main) { q.sync { } }\n",
            "let lock = NSLock(); func f() { lock.lock(); lock.unlock() }\n", "a.addDependency(b); ",
            "let s = DispatchSemaphore(value: 1); s.wait(); s.signal()\n",
            "if let a { return a }; a = b; lock.lock()\n",
            ".map { $0.x", "x.y(z: ", "let (a) = (x ", "let (a, b) = (x, ", "all.filter(\\.isReady) ", "var a: (((",
            "class A: Operation { var attempts = 1 } ", "let a = NSLock(); ", "NSLock(), ",
            "for a in b { c.addDependency(a) } ", "let q = { let q = ",
        ])
    func growth(piece: String) {
        Self.expectGrowth(piece)
        Self.expectGrowth(piece, before: "class A { ")
    }

    private static func expectGrowth(_ piece: String, before: String = "") {
        // Takes the lowest processor time of several runs, because other work on the machine increases it. For 8 times
        // the source, linear work takes 8 times as long, and quadratic work 64 times. The runs end once the ratio is
        // within the limit, because further runs could only show that the machine was busy.
        func time(_ count: Int) -> Int {
            let bytes = Array((before + String(repeating: piece, count: count)).utf8)
            let began = processorTime
            _ = audit(bytes, "a.swift")
            return processorTime - began
        }
        let least = isDeep ? 200 : 100
        var (small, large) = (Int.max / 100, Int.max / 100)
        for _ in 0..<10 {
            (small, large) = (min(small, time(least)), min(large, time(8 * least)))
            if large < small * 24 { break }
        }
        #expect(large < small * 24 + 2_000_000, "\(before)\(piece): \(small) ns, then \(large) ns")
    }

    @Test("A line of 10 MB is audited to its end", .enabled(if: isDeep))
    func longLine() {
        let call = "call(\"\(String(repeating: "x", count: 90))\"); "
        let source = String(repeating: call, count: 100_000) + "let last = NSLock()"
        let findings = Auditor.findings(in: Array(source.utf8), path: "a.swift")
        #expect(findings.map(\.pattern.id) == ["lock-made"])
        #expect(findings.first?.line == 1 && findings.first?.column == 10_000_012)
        #expect(findings.allSatisfy { $0.source.utf8.count < 1000 })
    }

    @Test("A file of 100 MB is audited to its end", .enabled(if: isDeep))
    func largeFile() {
        let block = "func f() { a.b(c) }  // \(String(repeating: "x", count: 974))\n"
        let source = String(repeating: block, count: 100_000) + "let last = NSLock()\n"
        #expect(source.utf8.count > 99_000_000)
        let findings = Auditor.findings(in: Array(source.utf8), path: "a.swift")
        #expect(findings.map(\.line) == [100_001])
    }

    /// The processor time of this thread, in nanoseconds.
    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
