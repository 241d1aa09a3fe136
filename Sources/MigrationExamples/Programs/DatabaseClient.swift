import TaskOperations
import TaskOperationsExtras

/// Reads in parallel, writes alone and in their order. Writes run on one thread.
///
/// A query that exceeds the limit fails with `TaskOperationError.timedOut`, which has its name and the limit.
final class DatabaseClient<Reader: Sendable, Connection>: Sendable {
    /// The connection for writes, which is used on one thread only.
    private actor Writer {
        private let thread = ThreadExecutor(name: "database")
        private let open: @Sendable () throws -> Connection
        private lazy var connection = Result { try open() }

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(open: @escaping @Sendable () throws -> Connection) {
            self.open = open
        }

        func run<Value: Sendable>(_ write: @Sendable (Connection) throws -> Value) throws -> Value {
            try write(connection.get())
        }
    }

    private let queue: TaskOperationQueue
    private let reader: Reader
    private let writer: Writer
    private let execute: @Sendable (Connection, String) throws -> Void

    init(
        reader: Reader, limit: Duration = .seconds(2), open: @escaping @Sendable () throws -> Connection,
        execute: @escaping @Sendable (Connection, String) throws -> Void
    ) {
        self.reader = reader
        self.execute = execute
        writer = Writer(open: open)
        queue = TaskOperationQueue(
            .init(
                name: "database", maxConcurrentOperationCount: 4,
                executor: BlockingExecutor(name: "readers", maxThreadCount: 4), defaults: .timeout(limit)))
    }

    func read<Value: Sendable>(
        _ name: String, _ query: @escaping @Sendable (Reader) throws -> Value
    ) -> TaskOperation<Value> {
        queue.addOperation(name: name, .overrun(.abandon)) { [reader] in try query(reader) }
    }

    func write<Value: Sendable>(
        _ name: String, _ statement: @escaping @Sendable (Connection) throws -> Value
    ) -> TaskOperation<Value> {
        queue.addBarrier(name: name) { [writer] in try await writer.run(statement) }
    }

    /// A transaction that has exceeded the limit is rolled back.
    func transaction<Value: Sendable>(
        _ name: String, _ statements: @escaping @Sendable (Connection) throws -> Value
    ) -> TaskOperation<Value> {
        write(name) { [execute] connection in
            try execute(connection, "BEGIN")
            do {
                let value = try statements(connection)
                try Task.checkCancellation()
                try execute(connection, "COMMIT")
                return value
            } catch {
                try execute(connection, "ROLLBACK")
                throw error
            }
        }
    }
}
