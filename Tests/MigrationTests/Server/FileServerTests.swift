import Foundation
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The server of the recipes", .inTurns, .prompt, .endsInTime)
struct FileServerTests {
    private let temporary: TemporaryFolder
    private let session = URLSession(configuration: .patient)

    init() throws { temporary = try TemporaryFolder() }

    private func folder() throws -> InputFolder { try InputFolder(listing: temporary.path) }

    /// Returns the response to a request for a path, made with a new client.
    private func get(_ path: String, from server: FileServer) throws -> RawResponse {
        let client = try RawClient(server.url(path: "/"))
        client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return client.received()
    }

    @Test("Every file is served without a change, with any name and any size")
    func files() async throws {
        let names = ["plain", "with space", "per%cent %41", "Übung/日本 🎫", "query?#[x]", "quote\"&'", "empty"]
        for (number, name) in names.dropLast().enumerated() {
            try temporary.write((0..<number * 9000).map { UInt8(truncatingIfNeeded: $0) }, to: name)
        }
        try temporary.write("", to: "empty")
        let files = try folder().files
        #expect(files.count == names.count)
        let server = try FileServer(serving: files)
        for file in files {
            let (data, response) = try await session.data(from: server.url(of: file))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(try [UInt8](data) == file.contents())
        }
        #expect(Set(server.requests) == Set(names))
    }

    @Test("No more of a file is sent than the limit")
    func limit() throws {
        try temporary.writeZeros(20_000_000_000, to: "huge")
        let server = try FileServer(serving: try folder().files, upTo: 100_000)
        let response = try get("/huge", from: server)
        #expect(response.body == Data(count: 100_000))
        #expect(response.head.contains("\r\nContent-Length: 100000\r\n"))
        #expect(response.head.contains("\r\nConnection: close"))
    }

    @Test(
        "What was not listed is not there, whichever way it is asked for",
        arguments: [
            "/", "/missing", "/../secret", "/%2e%2e/secret", "/folder/../../secret", "/folder/..", "/folder",
            "//etc/passwd", "/file/", "/file%00", "/./file",
        ])
    func outside(path: String) throws {
        try temporary.write("secret", to: "secret")
        try temporary.write("file", to: "served/file")
        try temporary.write("file", to: "served/folder/file")
        let server = try FileServer(serving: InputFolder(listing: temporary / "served").files)
        let response = try get(path, from: server)
        #expect(response.status == 404)
        #expect(response.body == Data("no such file".utf8))
        #expect(try get("/file", from: server).body == Data("file".utf8))
    }

    @Test("A refused request gets its status, and the next client is served")
    func refused() throws {
        try temporary.write("file", to: "file")
        let server = try FileServer(serving: try folder().files)
        let requests = [
            "nonsense\r\n\r\n": 400, "POST /file HTTP/1.1\r\n\r\n": 405, "GET /file HTTP/3\r\n\r\n": 505,
            "GET /file HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc": 413,
            "GET /file HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 100_000) + "\r\n": 431,
        ]
        for (request, status) in requests {
            let client = try RawClient(server.url(path: "/"))
            client.send(request)
            #expect(client.received().status == status)
        }
        #expect(try get("/file", from: server).body == Data("file".utf8))
    }

    @Test("A request may come byte by byte")
    func slowly() throws {
        try temporary.write("file", to: "file")
        let server = try FileServer(serving: try folder().files)
        let client = try RawClient(server.url(path: "/"))
        for byte in "GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8 { client.send([byte]) }
        #expect(client.received().body == Data("file".utf8))
    }

    @Test("Files that cannot be read are told of, and one that became shorter ends early")
    func unreadable() throws {
        try temporary.write("vanishes", to: "vanishes")
        try temporary.write("replaced", to: "replaced")
        try temporary.write([UInt8](repeating: 1, count: 50_000), to: "shrinks")
        let files = try folder().files
        try temporary.remove("vanishes")
        try temporary.remove("replaced")
        try temporary.makePipe("replaced")
        try temporary.write([UInt8](repeating: 1, count: 20_000), to: "shrinks")
        let server = try FileServer(serving: files)
        let vanished = try get("/vanishes", from: server)
        #expect(vanished.status == 500 && vanished.body == Data("no such file or directory".utf8))
        #expect(try get("/replaced", from: server).status == 500)
        let shrunk = try get("/shrinks", from: server)
        #expect(shrunk.head.contains("Content-Length: 50000") && shrunk.body.count == 20_000)
        #expect(server.departures == 1)
    }

    @Test("Clients that disconnect before, in and after their request do not delay others")
    func clientsLeave() async throws {
        try temporary.write([UInt8](repeating: 1, count: 60_000), to: "file")
        let server = try FileServer(serving: try folder().files)
        for request in ["", "GET /fi", "GET /file HTTP/1.1\r\n\r\n"] {
            for _ in 0..<20 { try RawClient(server.url(path: "/")).send(request) }
        }
        #expect(try get("/file", from: server).body.count == 60_000)
    }

    @Test("A paused server sends nothing, notices disconnected clients, and continues at its position")
    func paused() async throws {
        try temporary.write("file", to: "file")
        let server = try FileServer(serving: try folder().files)
        server.isPaused = true
        let patient = try RawClient(server.url(path: "/"))
        patient.send("GET /file HTTP/1.1\r\n\r\n")
        var impatient: RawClient? = try RawClient(server.url(path: "/"))
        impatient?.send("GET /file HTTP/1.1\r\n\r\n")
        #expect(await eventually { server.requests.count == 2 })
        #expect(server.departures == 0)
        impatient = nil
        #expect(await eventually { server.departures == 1 })
        server.isPaused = false
        #expect(patient.received().body == Data("file".utf8))
    }

    @Test("Where there are too many clients, those that are there longest have to go")
    func tooManyClients() throws {
        try temporary.write("file", to: "file")
        let server = try FileServer(serving: try folder().files, clients: 4)
        let idle = try (0..<10).map { _ in try RawClient(server.url(path: "/")) }
        #expect(try get("/file", from: server).body == Data("file".utf8))
        #expect(idle[0].received().status == nil)
    }

    /// In a separate process, because with a cache Foundation stops the process:
    /// https://github.com/swiftlang/swift-corelibs-foundation/issues/3296
    @Test("The session of the recipes survives requests that are cancelled directly after their start")
    func cancelledAtOnce() async {
        await #expect(processExitsWith: .success) {
            let server = try FileServer(serving: [])
            server.isPaused = true  // An answer that meets the cancellation would stop the process, too.
            let session = URLSession(configuration: .patient)
            let ends = SharedCount()
            for _ in 0..<2000 {
                let task = session.dataTask(with: server.url(path: "/file")) { _, _, _ in ends.add(1) }
                task.resume()
                task.cancel()
            }
            #expect(await eventually { ends.total == 2000 })
        }
    }

    @Test("A released server stops")
    func stops() throws {
        var server: FileServer? = try FileServer(serving: [])
        let client = try RawClient(server!.url(path: "/"))
        server = nil
        #expect(client.received().head.isEmpty)
    }

    @Test("An input starts its server once")
    func lazyServer() throws {
        let input = RecipeInput(try folder())
        let copy = input
        #expect(try input.server === copy.server)
    }
}
