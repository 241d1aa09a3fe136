import TaskOperations

extension AnyTaskOperation {
    /// Starts a new operation that has no dependencies and was not added to a queue.
    func startNew() {
        do {
            try start()
        } catch {
            preconditionFailure("a new operation could not be started: \(error)")
        }
    }
}
