import TaskOperations

// Additions to bounded queues.

extension World {
    /// Adds an operation as soon as the queue has room.
    func addWaiting(_ number: Int, to queue: Int) async throws {
        guard let real = queues[queue] else { return }
        note("adding \(number) to queue \(queue) once there is room")
        let prediction = model.claiming([number])
        if prediction == .accepted { model.addWaiting(number, to: queue) }
        var error: TaskOperationError?
        do {
            try await real.addOperationWaitingForRoom(operations[number])
        } catch let refusal as TaskOperationError {
            error = refusal
        }
        note("\(number) is added, or came to \(operations[number].failure.map { "\($0)" } ?? "nothing")")
        if case .queueShutDown = error, model.operations[number].outcome == .queueShutDown { return }
        if case .perhapsRefused = prediction, error == nil { model.addWaiting(number, to: queue) }
        guard meets(prediction, error, "adding \(number) to queue \(queue) once there is room") else { return }
        model.check(!model.waitsForRoom(number), "\(number) was added to queue \(queue) before there was room")
        addHandlers(to: [number])
        look()
    }
}
