import Testing

@testable import RedisDeliveries

@Suite("The protocol of Redis")
struct RESPTests {
    private static let replies: [(String, RESPValue)] = [
        ("+OK\r\n", .string("OK")), ("-ERR no\r\n", .error("ERR no")), (":-12\r\n", .integer(-12)),
        ("$5\r\na\r\nbc\r\n", .string("a\r\nbc")), ("$-1\r\n", .null), ("_\r\n", .null), ("#t\r\n", .integer(1)),
        ("*2\r\n:1\r\n*1\r\n+x\r\n", .array([.integer(1), .array([.string("x")])])),
        ("%1\r\n+key\r\n*0\r\n", .array([.string("key"), .array([])])), ("*-1\r\n", .null),
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

    @Test("what is no value is an error", arguments: ["?\r\n", "$x\r\n", "\r\n"])
    func malformed(text: String) {
        var parser = RESPParser()
        parser.append(text.utf8)
        #expect(throws: RESPParser.Malformed.self) { try parser.next() }
    }
}
