import TaskOperations
import Testing

@testable import TaskOperationsExtras

/// A server that counts its connections.
final class PoolServer: Sendable {
    struct Counts: Equatable {
        var created = 0
        var closed = 0
        /// The largest number of connections in use at once.
        var peakUse = 0
        var used = 0

        var open: Int { created - closed }
    }

    private let state = Lock(Counts())
    private let peak = Lock(0)

    var counts: Counts { state.withLock { $0 } }

    /// The largest number of connections at once.
    var peakOpen: Int { peak.withLock { $0 } }

    func connect() -> PooledConnection {
        PooledConnection(
            number: change {
                $0.created += 1
                let open = $0.open
                peak.withLock { $0 = max($0, open) }
                return $0.created
            }, of: self)
    }

    fileprivate func change<Result: Sendable>(_ body: (inout Counts) -> Result) -> Result {
        state.withLock { body(&$0) }
    }
}

/// A connection that records an issue if two calls use it at once, if it is used when it is closed, or closed twice.
final class PooledConnection: Sendable {
    private enum State: Sendable { case idle, used, closed }

    let number: Int
    private let server: PoolServer
    private let state = Lock(State.idle)

    fileprivate init(number: Int, of server: PoolServer) { (self.number, self.server) = (number, server) }

    func use<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        move(from: .idle, to: .used)
        server.change {
            $0.used += 1; $0.peakUse = max($0.peakUse, $0.used)
        }
        defer {
            move(from: .used, to: .idle)
            server.change { $0.used -= 1 }
        }
        return try await body()
    }

    func close() {
        move(from: .idle, to: .closed)
        server.change { $0.closed += 1 }
    }

    private func move(from expected: State, to new: State) {
        let former = state.withLock { state in
            defer { state = new }
            return state
        }
        #expect(former == expected, "connection \(number): \(new)")
    }
}

extension ResourcePool<PooledConnection> {
    /// A pool of connections of a server.
    convenience init(
        _ server: PoolServer, _ limit: AsyncSemaphore, leastRecentlyUsedFirst: Bool = false, idleTime: Duration? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        validate: @escaping @Sendable (PooledConnection) async throws -> Bool = { _ in true }
    ) {
        self.init(
            limit: limit, leastRecentlyUsedFirst: leastRecentlyUsedFirst, idleTime: idleTime, isFailure: isFailure,
            validate: validate, close: { $0.close() }, create: { server.connect() })
    }

    /// Uses a connection, and returns its number.
    @discardableResult
    func use(_ body: () async throws -> Void = {}) async throws -> Int {
        try await withResource { connection in
            try await connection.use(body)
            return connection.number
        }
    }
}
