import TestSupport
import Testing

@testable import workers

@Suite("The protocol of Redis")
struct RESPTests {
    private static let replies: [(String, RESPValue)] = [
        ("+OK\r\n", .string("OK")), ("-ERR no\r\n", .error("ERR no")), (":-12\r\n", .integer(-12)),
        ("$5\r\na\r\nbc\r\n", .string("a\r\nbc")), ("$-1\r\n", .null), ("_\r\n", .null), ("#t\r\n", .integer(1)),
        ("*2\r\n:1\r\n*1\r\n+x\r\n", .array([.integer(1), .array([.string("x")])])),
        ("%1\r\n+key\r\n*0\r\n", .array([.string("key"), .array([])])), ("*-1\r\n", .null),
        (">2\r\n+invalidate\r\n*1\r\n+key\r\n:7\r\n", .integer(7)),
        ("*2\r\n|1\r\n+ttl\r\n:3\r\n:1\r\n|0\r\n:2\r\n", .array([.integer(1), .integer(2)])),
    ]

    @Test("values are read, however their bytes are cut")
    func pieces() throws {
        let text = Self.replies.map(\.0).joined()
        for size in 1...40 {
            var parser = RESPParser()
            var values: [RESPValue] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let value = try parser.next() { values.append(value) }
            }
            #expect(values == Self.replies.map(\.1))
        }
    }

    @Test(
        "a text that is no value is an error",
        arguments: ["?\r\n", "$x\r\n", "\r\n", "+a\rb\r\n", "$2\r\nabc\r\n", "*1\r\n>1\r\n+a\r\n", "$-2\r\n"]
            + ["*", "%", "~", "|", ">", "="].map { "\($0)\(Int.min)\r\n" })
    func malformed(text: String) {
        var parser = RESPParser()
        parser.append(text.utf8)
        #expect(throws: RESPParser.Malformed.self) { try parser.next() }
    }

    @Test("replies that are too large or nested too deeply are errors, and end no process", .inTurns)
    func hostileReplies() async {
        await #expect(processExitsWith: .success) {
            let replies = [
                "%\(Int.max)\r\n", "%\(Int.max / 2)\r\n", "*\(Int.max)\r\n:1\r\n", "$\(Int.max)\r\n", "=\(Int.max)\r\n",
                "|\(Int.max)\r\n", ">\(Int.max)\r\n", String(repeating: "*1\r\n", count: 5000),
                String(repeating: "|1\r\n", count: 5000), "+" + String(repeating: "x", count: 1 << 20),
                "*\(1 << 20)\r\n" + String(repeating: "*1\r\n:1\r\n", count: 1 << 20),
            ]
            for reply in replies {
                var parser = RESPParser()
                parser.append(reply.utf8)
                #expect(throws: RESPParser.Malformed.self, "\(reply.prefix(40))") {
                    while try parser.next() != nil {}
                }
            }
        }
    }

    @Test(
        "each part of a reply takes constant time",
        arguments: [
            "*1000000\r\n" + String(repeating: ":1\r\n", count: 8000), "+" + String(repeating: "x", count: 32_000),
        ])
    func parts(reply: String) throws {
        let bytes = Array(reply.utf8)
        let ratio = try bestRatio(within: 25) { isLarge in
            var parser = RESPParser()
            return try processorTime {
                for byte in isLarge ? bytes[...] : bytes.prefix(bytes.count / 8) {
                    parser.append(CollectionOfOne(byte))
                    if try parser.next() != nil { Issue.record("the reply is complete") }
                }
            }
        }
        #expect(ratio < 25)
    }
}
