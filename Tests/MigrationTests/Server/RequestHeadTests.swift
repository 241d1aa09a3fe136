import TestSupport
import Testing

@testable import MigrationExamplesSupport

@Suite("The head of a request", .inTurns)
struct RequestHeadTests {
    private func parse(_ text: String) throws -> RequestHead? {
        try RequestHead.parse(Array(text.utf8))
    }

    @Test("The path is decoded, without the query")
    func path() throws {
        #expect(try parse("GET /a/b%20%25%C3%A9?x=1 HTTP/1.1\r\nHost: h\r\n\r\n")?.path == PathBytes("a/b %é"))
        #expect(try parse("GET / HTTP/1.0\r\n\r\n")?.path == PathBytes(""))
        #expect(try parse("GET /%FF HTTP/1.1\r\n\r\n")?.path == PathBytes([0xff] as [UInt8]))
    }

    @Test("Encoding and decoding a path returns the path")
    func roundTrip() throws {
        let path = PathBytes((1...255).map { UInt8($0) })
        #expect(PathBytes(percentDecoding: Substring(path.percentEncoded)) == path)
        #expect(path.percentEncoded.utf8.allSatisfy { 0x21..<0x7f ~= $0 })
    }

    @Test(
        "An incomplete head is waited for", arguments: ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: b\r\n\r"])
    func incomplete(text: String) throws {
        #expect(try parse(text) == nil)
    }

    @Test(
        "Nonsense is refused",
        arguments: [
            "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n",
            "GET x HTTP/1.1\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n", "GET /%4 HTTP/1.1\r\n\r\n",
            "GET / XTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n: no name\r\n\r\n",
        ])
    func nonsense(text: String) {
        #expect(throws: RequestHead.Fault.malformed) { try parse(text) }
    }

    @Test("Bytes that are no UTF-8 are refused")
    func invalidText() {
        #expect(throws: RequestHead.Fault.malformed) { try RequestHead.parse([0xff, 0xfe] + Array("\r\n\r\n".utf8)) }
    }

    @Test("Unsupported requests are refused by name")
    func notDone() {
        #expect(throws: RequestHead.Fault.methodNotAllowed) { try parse("POST / HTTP/1.1\r\n\r\n") }
        #expect(throws: RequestHead.Fault.versionNotSupported) { try parse("GET / HTTP/2\r\n\r\n") }
        #expect(throws: RequestHead.Fault.bodyNotAllowed) { try parse("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n") }
        #expect(throws: RequestHead.Fault.bodyNotAllowed) {
            try parse("GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n")
        }
    }

    @Test("A head that is too large is refused, complete or not")
    func tooLarge() {
        let long = String(repeating: "a", count: RequestHead.sizeLimit)
        #expect(throws: RequestHead.Fault.tooLarge) { try parse("GET /" + long) }
        #expect(throws: RequestHead.Fault.tooLarge) { try parse("GET /\(long) HTTP/1.1\r\n\r\n") }
    }
}
