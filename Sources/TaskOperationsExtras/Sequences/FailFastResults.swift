import TaskOperations

/// The values of operations. The first failure ends the sequence and cancels the remaining operations.
final class FailFastResults<Value: Sendable>: Sendable {
    private let buffer: ResultBuffer<Value>

    init(of buffer: ResultBuffer<Value>) {
        self.buffer = buffer
    }

    deinit { buffer.cancelAll(andAdded: true) }

    /// Waits for the next value. Returns nil after the last value.
    ///
    /// - Throws: The first failure, after all operations have ended. After a failure, the next call returns nil.
    func next() async throws -> Value? {
        do {
            guard let operation = try await buffer.next() else {
                if let failure = buffer.takeFailure() { throw failure }
                return nil
            }
            return try operation.finishedValue()
        } catch {
            // The operation's handler, which reports the failure to the buffer, might not have run yet.
            buffer.fail(with: error)
            while try await buffer.next() != nil {}
            throw buffer.takeFailure() ?? error
        }
    }
}
