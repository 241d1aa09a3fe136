#if os(Linux)
    import Foundation
    import workers
    import TaskOperationsDeliveries
    import TaskOperationsTesting
    import TestSupport
    import Testing

    /// Each test that starts child processes runs in a separate process. See `CommandOutputTests`.
    @Suite(
        "Deliveries of a Redis or Valkey server",
        .enabled(if: !RedisServer.executables.isEmpty, "There is no redis-server or valkey-server on the path."),
        .inTurns, .prompt, .endsInTime)
    struct ServerTests {
        /// Prints the output of a test's process.
        private static func printOutput(of result: ExitTest.Result?) {
            let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
            for line in lines where line.hasPrefix("deliveries:") { print(line) }
        }

        @Test(
            "nothing is lost when workers and the server are killed, and no body runs twice under a held lease",
            arguments: RedisServer.executables)
        func kills(executable: URL) async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                [executable] in
                let count =
                    ProcessInfo.processInfo.environment["FLEET_DELIVERIES"].flatMap { Int($0) }
                    ?? (isDeep ? 20_000 : 1500)
                let fleet = try await Fleet(of: executable, count: 4, width: 4, payloads: count, work: "sleep 4")
                defer { fleet.remove() }
                let start = ContinuousClock.now
                var (kills, serverKills) = (0, 0)
                while true {
                    try await Task.sleep(for: .milliseconds(200))
                    guard let left = await fleet.left() else { continue }
                    if left == 0, serverKills == 2 { break }
                    if ContinuousClock.now - start >= .seconds(kills + 1) {
                        try fleet.replaceMember()
                        kills += 1
                    }
                    if serverKills < 2, left < count - count * (serverKills + 1) / 3 {
                        fleet.server.kill()
                        serverKills += 1
                        try await Task.sleep(for: .milliseconds(500))
                        try await fleet.server.start()
                    }
                }
                let time = ContinuousClock.now - start
                _ = fleet.terminate()
                let history = try fleet.history()
                print(
                    """
                    deliveries: \(count) of \(executable.lastPathComponent) in \(time), \(kills) workers and \(serverKills) servers killed, \
                    \(history.runCount - count) runs more than payloads, \(history.lossCount) leases lost, \
                    \(history.engineFailureCount) calls failed, \(count - history.done.count) lost
                    """)
                #expect(history.done.count == count)
                #expect(history.acknowledgedWithoutSuccess.isEmpty)
                #expect(history.overlaps.isEmpty)
                #expect(serverKills == 2)
            }
            Self.printOutput(of: result)
        }

        @Test(
            "workers end in their drain time after SIGTERM, and acknowledge nothing that has not succeeded",
            arguments: RedisServer.executables)
        func termination(executable: URL) async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                [executable] in
                // The second half of the bodies take longer than the drain time.
                let fleet = try await Fleet(
                    of: executable, count: 4, width: 4, payloads: 300, work: "sleep 20", drainTime: 1)
                defer { fleet.remove() }
                try await fleet.stream.send((300..<600).map { (id: "\($0)", payload: "sleep 60000") })
                while await fleet.left() ?? 600 > 300 { try await Task.sleep(for: .milliseconds(50)) }
                let time = fleet.terminate()
                let history = try fleet.history()
                let left = try await fleet.stream.count()
                print("deliveries: workers ended \(time) after SIGTERM, \(left) of 600 deliveries are left")
                #expect(history.stoppedCount == 4, "\(history.stoppedCount) have ended by themselves")
                #expect(time < .seconds(60))
                #expect(history.done.count + left == 600, "\(history.done.count) are done, \(left) are left")
                #expect(history.acknowledged == history.done)
                #expect(history.acknowledgedWithoutSuccess.isEmpty)
            }
            Self.printOutput(of: result)
        }

        @Test(
            "a lost lease, a delayed retry and the number of attempts are what the server says",
            arguments: RedisServer.executables, [nil, "secret"])
        func leases(executable: URL, password: String?) async {
            await #expect(processExitsWith: .success) { [executable, password] in
                let server = try await RedisServer(executable, password: password)
                defer { server.remove() }
                func stream() -> RedisStream {
                    RedisStream(
                        "leases", at: server.address, password: server.password, lease: .milliseconds(300))
                }
                let (one, two) = (stream(), stream())
                try await one.create()
                try await one.send([(id: "a", payload: "text\r\nwith lines")])
                var (first, second) = (one.deliveries().makeAsyncIterator(), two.deliveries().makeAsyncIterator())
                let held = try #require(await first.next())
                #expect(held.id == "a" && held.attempt == 1 && held.payload.text == "text\r\nwith lines")
                try await held.extendLease(by: .milliseconds(300))
                let taken = try #require(await second.next())
                #expect(taken.payload.attempt == 2)
                await #expect(throws: DeliveryLeaseLost.self) { try await held.acknowledge() }
                await #expect(throws: DeliveryLeaseLost.self) { try await held.extendLease(by: .seconds(1)) }
                try await taken.reject(retryAfter: .milliseconds(100))
                #expect(try await one.count() == 1)
                let last = try #require(await first.next())
                #expect(last.payload.attempt == 3)
                try await last.acknowledge()
                #expect(try await one.count() == 0)
                await #expect(throws: DeliveryLeaseLost.self) { try await last.acknowledge() }
            }
        }

        /// `EngineConformanceTests` checks the same requirements with the other engines.
        @Test("the engine in a server", arguments: RedisServer.executables, EngineRequirement.allCases)
        func conformance(executable: URL, requirement: EngineRequirement) async {
            await #expect(processExitsWith: .success) { [executable, requirement] in
                let server = try await RedisServer(executable)
                defer { server.remove() }
                let lease = Duration.seconds(1)
                let sender = RedisStream("conformance", at: server.address, lease: lease)
                try await sender.create()
                try await EngineUnderTest(
                    lease: lease, send: { try await sender.send([(id: "\($0)", payload: "\($0)")]) },
                    deliveries: { worker in
                        RedisStream("conformance", at: server.address, lease: lease, worker: worker).deliveries()
                    },
                    pass: { try await Task.sleep(for: $0) }, number: { Int($0.text) }
                ).check(requirement)
            }
        }

        @Test(
            "clients of a port name the password, and connect again after the server was killed",
            arguments: RedisServer.executables)
        func password(executable: URL) async {
            await #expect(processExitsWith: .success) { [executable] in
                let server = try await RedisServer(executable, password: "secret")
                defer { server.remove() }
                for password in [nil, "wrong"] {
                    let client = RedisClient(server.address, password: password)
                    await #expect(throws: (any Error).self) { try await client.command("PING") }
                }
                let client = RedisClient(server.address, password: "secret")
                try await client.command("SET", "key", "value")
                server.kill()
                await #expect(throws: RedisConnectionError.self) { try await client.command("GET", "key") }
                try await server.start()
                #expect(try await client.command("GET", "key") == .string("value"))
            }
        }
    }
#endif
