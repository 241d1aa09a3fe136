import TaskOperations

// Queues that exist for the duration of a piece of work.

extension World {
    func performScope(_ queue: Int, _ steps: [Step], in number: Int?) async throws {
        if queues[queue] != nil || !model.isEmpty(queue) { return }
        let made = program.queues[queue]
        model.openScope(queue, like: Model.Queue(made))
        let scope = number.map { model.beginWait($0, for: .queue(queue), isLending: false) }
        if let number, model.operations[number].isCancelled { model.cancelAll(queue, andAdded: true) }
        defer { leaveScope(queue, scope, of: number) }
        try await withTaskOperationQueue(
            .init(
                name: "\(queue)", maxConcurrentOperationCount: made.width, order: made.order,
                maxQueuedOperationCount: made.pendingLimit, overflow: made.overflow, rate: made.operationRate,
                clock: clock, executor: executor), failures: .ignore
        ) { real in
            queues[queue] = real
            observe(real)
            note("\(number.map { "\($0)" } ?? "main") opens queue \(queue)")
            do {
                try await perform(steps, in: number)
            } catch {
                note("\(error) leaves queue \(queue)")
                model.cancelAll(queue, andAdded: true)
                close(queue, in: number)
                throw error
            }
            close(queue, in: number)
        }
    }

    /// The last step in the body of a scope. The wait for the remaining operations lends the permit.
    private func close(_ queue: Int, in number: Int?) {
        note("\(number.map { "\($0)" } ?? "main") closes queue \(queue)")
        model.closeScope(queue)
        if let number, !model.isEmpty(queue) { closing[queue] = model.beginWait(number, for: .queue(queue)) }
    }

    private func leaveScope(_ queue: Int, _ scope: Int?, of number: Int?) {
        note("\(number.map { "\($0)" } ?? "main") has left queue \(queue)")
        model.check(model.isEmpty(queue), "\(model.unfinished(in: queue)) outlive the scope of queue \(queue)")
        queues[queue] = nil
        guard let number, let scope else { return }
        model.endWait(scope, of: number)
        if let wait = closing.removeValue(forKey: queue) { model.endWait(wait, of: number) }
        compare()
    }
}
