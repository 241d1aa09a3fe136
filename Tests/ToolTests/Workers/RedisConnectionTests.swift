#if os(Linux)
    import Foundation
    import Glibc
    import TaskOperationsDeliveries
    import TaskOperationsTesting
    import TestSupport
    import Testing

    @testable import workers

    /// The servers of these tests are threads of the test.
    @Suite("Connections to servers that misbehave", .inTurns, .endsInTime)
    struct RedisConnectionTests {
        @Test("a command has one timeout for all parts of its reply")
        func slowReply() async throws {
            let server = try FakeServer { command, connection in
                if command[0] == "GET" {
                    var isOpen = connection.write("*1000000\r\n")
                    while isOpen {
                        usleep(20_000)
                        isOpen = connection.write(":1\r\n")
                    }
                }
                return "%0\r\n"
            }
            let connection = RedisConnection(to: server.address, password: nil, timeout: .milliseconds(300))
            let error = await #expect(throws: RedisConnectionError.self) {
                try await connection.send([["GET", "key"]])
            }
            #expect(error?.description.hasPrefix("No reply within") == true)
            #expect(connection.isBroken)
        }

        @Test("the timeout of a command includes the time until the server accepts the connection")
        func noGreeting() async throws {
            let server = try FakeServer { _, _ in "" }
            let connection = RedisConnection(to: server.address, password: nil, timeout: .milliseconds(300))
            await #expect(throws: RedisConnectionError.self) { try await connection.send([["GET", "key"]]) }
        }

        @Test("commands for servers that do not read block no thread of the pool")
        func serverThatDoesNotRead() async throws {
            let order = Recorder<String>()
            let hasStopped = Gate()
            let server = try FakeServer { command, connection in
                if command[0] == "PING" {
                    Task { await hasStopped.pass() }
                    connection.waitUntilClosed()
                }
                return "%0\r\n"
            }
            let command = ["SET", "key", String(repeating: "x", count: 1 << 20)]
            let connections = (0..<8).map { _ in
                RedisConnection(to: server.address, password: nil, timeout: .seconds(3600))
            }
            await withTaskGroup { group in
                for connection in connections {
                    group.addTask {
                        async let ping = try? connection.send([["PING"]])
                        await hasStopped.waitForArrivals(connections.count)
                        await #expect(throws: RedisConnectionError.self) { try await connection.send([command]) }
                        order.record("command")
                        _ = await ping
                    }
                }
                group.addTask {
                    await hasStopped.waitForArrivals(connections.count)
                    for _ in 0..<1000 { await Task.yield() }
                    order.record("other task")
                    for connection in connections { connection.close() }
                }
            }
            hasStopped.open()
            #expect(order.events.first == "other task")
            #expect(order.events.count == connections.count + 1)
        }

        @Test("messages that the server pushes are no replies")
        func pushedMessages() async throws {
            let server = try FakeServer { command, _ in
                if command[0] == "HELLO" { return ">1\r\n+early\r\n%0\r\n" }
                return ">2\r\n+invalidate\r\n*1\r\n+key\r\n$\(command[1].utf8.count)\r\n\(command[1])\r\n"
            }
            let client = RedisClient(server.address)
            for number in 0..<10 {
                #expect(try await client.command("ECHO", "\(number)") == .string("\(number)"))
            }
        }

        @Test("a reply to no command closes the connection, because the next command would receive it")
        func unsolicitedReply() async throws {
            let server = try FakeServer { command, _ in command[0] == "HELLO" ? "%0\r\n" : "+one\r\n+two\r\n" }
            let connection = RedisConnection(to: server.address, password: nil)
            _ = try? await connection.send([["GET", "key"]])
            #expect(await eventually { connection.isBroken })
        }

        @Test("replies to many commands at once arrive in the order of the commands")
        func manyCommands() async throws {
            let server = try FakeServer { command, _ in ":\(command[1])\r\n" }
            let client = RedisClient(server.address)
            await withTaskGroup { group in
                for number in 0..<2000 {
                    group.addTask {
                        let reply = try? await client.command("ECHO", "\(number)")
                        #expect(reply == .integer(number))
                    }
                }
            }
        }

        @Test("entries with numbers of any size, and delays of any length, end no process")
        func extremeNumbers() async {
            await #expect(processExitsWith: .success) {
                let entry = "*3\r\n+1-1\r\n:\(Int.max)\r\n*6\r\n+i\r\n+a\r\n+n\r\n+\(Int.max)\r\n+p\r\n+text\r\n"
                let server = try FakeServer { command, _ in
                    switch command[0] {
                    case "XGROUP": "+OK\r\n"
                    case "EVAL" where command.contains("0-0"): "*2\r\n+0-0\r\n\(entry)"
                    case "EVAL" where command.contains("rate"): ":\(Int.max)\r\n"
                    case "XLEN", "ZCARD": ":\(Int.max)\r\n"
                    default: ":1\r\n"
                    }
                }
                let stream = RedisStream("stream", at: server.address, lease: .seconds(Int64.max))
                var iterator = stream.deliveries().makeAsyncIterator()
                let delivery = try #require(try await iterator.next())
                #expect(delivery.attempt == .max)
                #expect(try await stream.count() == .max)
                for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), Duration(attoseconds: .max)] {
                    try await delivery.extendLease(by: duration)
                    try await delivery.reject(retryAfter: duration)
                }
                let wait = Task { try await RedisRate("rate", perSecond: 1e-300, at: server.address).wait() }
                wait.cancel()
                _ = await wait.result
            }
        }

        @Test(
            "entries that are no work, and unexpected replies, are errors and not silence",
            arguments: [
                "*2\r\n+0-0\r\n*3\r\n+1-1\r\n:1\r\n*2\r\n+a\r\n+b\r\n", "*2\r\n+0-0\r\n+text\r\n", ":1\r\n", "*0\r\n",
            ])
        func unexpectedReplies(reply: String) async throws {
            let server = try FakeServer { command, _ in command[0] == "EVAL" ? reply : "+OK\r\n" }
            var iterator = RedisStream("stream", at: server.address, lease: .seconds(1)).deliveries()
                .makeAsyncIterator()
            await #expect(throws: RedisError.self) { try await iterator.next() }
        }
    }

    /// A server on a socket of the file system. Each connection has a thread.
    private final class FakeServer: Sendable {
        /// A connection to a client.
        struct Connection: Sendable {
            fileprivate let descriptor: CInt

            /// Writes bytes. Returns false if the client has closed the connection.
            func write(_ text: String) -> Bool {
                let bytes = Array(text.utf8)
                return send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
            }

            /// Waits without reading.
            func waitUntilClosed() {
                var state = pollfd(fd: descriptor, events: 0, revents: 0)
                poll(&state, 1, -1)
            }
        }

        /// Returns the reply to a command.
        typealias Reply = @Sendable (_ command: [String], Connection) -> String

        let address: RedisAddress
        private let path = "/tmp/fake-server-\(UInt32.random(in: 0 ... .max))"
        private let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)

        init(_ reply: @escaping Reply) throws {
            self.address = .unix(path: path)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let length = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafeBytes(of: &address) {
                bind(listener, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), length)
            }
            try #require(result == 0 && listen(listener, 16) == 0)
            Thread.detachNewThread { [listener] in
                while true {
                    let descriptor = accept(listener, nil, nil)
                    if descriptor < 0 { break }
                    Thread.detachNewThread { Self.serve(Connection(descriptor: descriptor), reply) }
                }
                close(listener)
            }
        }

        deinit {
            // The thread that accepts closes the listener. Its number must not be given to another file before.
            shutdown(listener, CInt(SHUT_RDWR))
            unlink(path)
        }

        private static func serve(_ connection: Connection, _ reply: Reply) {
            var parser = RESPParser()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(connection.descriptor, &buffer, buffer.count, 0)
                if count <= 0 { break }
                parser.append(buffer.prefix(count))
                while let command = try? parser.next() {
                    _ = connection.write(reply(command.array?.compactMap(\.string) ?? [], connection))
                }
            }
            close(connection.descriptor)
        }
    }
#endif
