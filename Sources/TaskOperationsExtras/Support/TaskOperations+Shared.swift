import TaskOperations

extension OperationOptions {
    /// These options, and the priority that a call passes as an argument. The option replaces the argument.
    func with(_ priority: TaskPriority?) -> OperationOptions { priority.map { [.priority($0), self] } ?? self }
}

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
