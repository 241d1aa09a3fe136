import TaskOperations

// The steps of bodies, and of the program outside of bodies.

/// The error of a failing step.
struct StepFailure: Error {}

extension World {
    /// The body of an operation.
    func run(_ number: Int) async throws -> Int {
        note("begin \(number)")
        model.begin(number, levels: orderLevels)
        look()
        model.check(
            AnyTaskOperation.current === operations[number], "another operation than \(number) is the current one")
        do {
            try await perform(program.operations[number].steps, in: number)
            end(number, .value)
            return number
        } catch {
            end(number, error)
            throw error
        }
    }

    private func end(_ number: Int, _ error: any Error) {
        switch error {
        case is CancellationError: end(number, .cancelled)
        case TaskOperationError.waitCycle: end(number, .waitCycle)
        default: end(number, .failure)
        }
    }

    private func end(_ number: Int, _ outcome: Model.Outcome) {
        note("end \(number): \(outcome)")
        lookAtOperations()
        model.end(number, outcome)
    }

    /// Performs steps, in the body of an operation or, if `number` is nil, outside of bodies.
    func perform(_ steps: [Step], in number: Int?) async throws {
        for step in steps { try await perform(step, in: number) }
    }

    private func perform(_ step: Step, in number: Int?) async throws {
        switch step {
        case .yield: await Task.yield()
        case .call(let call): perform(call)
        case .await(let other, let insists):
            try await wait(for: .operation(other), in: number) { () async throws(TaskOperationError) in
                try await operations[other].waitToTheEnd()
            }
            if insists, operations[other].failure != nil { throw StepFailure() }
        case .addWaiting(let other, let queue): try await addWaiting(other, to: queue)
        case .awaitAll(let queue):
            guard let real = queues[queue] else { return }
            try await wait(for: .queue(queue), in: number) { () async throws(TaskOperationError) in
                try await real.waitToTheEnd()
            }
        case .children(let lists): try await performChildren(lists, in: number)
        case .scope(let queue, let steps): try await performScope(queue, steps, in: number)
        case .checkCancellation:
            let isCancelled = number.map { model.operations[$0].isCancelled } ?? false
            model.check(
                Task.isCancelled == isCancelled, "the task of \(number ?? -1) is cancelled: \(Task.isCancelled)")
            try Task.checkCancellation()
        case .fail: throw StepFailure()
        }
    }

    private func performChildren(_ lists: [[Step]], in number: Int?) async throws {
        let failures = await withTaskGroup(of: (any Error)?.self) { group in
            for steps in lists {
                group.addTask { [unowned self] in
                    do { try await perform(steps, in: number) } catch { return error }
                    return nil
                }
            }
            var failures: [any Error] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return failures
        }
        if let failure = failures.first { throw failure }
    }

    // MARK: Waiting

    private func wait(
        for target: Model.Target, in number: Int?, _ wait: () async throws(TaskOperationError) -> Void
    ) async throws {
        note("\(number.map { "\($0)" } ?? "main") awaits \(target)")
        guard let number, !isOver(target) else { return try await wait() }
        let prediction = model.waiting(number, for: target)
        if case .refused = prediction { return try await expectRefusal(prediction, number, target, wait) }
        let begun = model.beginWait(number, for: target)
        do throws(TaskOperationError) {
            try await wait()
        } catch {
            note("\(number) is refused to await \(target)")
            model.endRefusedWait(begun, of: number)
            _ = meets(prediction, error, "awaiting \(target) in \(number)")
            throw error
        }
        note("\(number) goes on after \(target)")
        model.endWait(begun, of: number)
        lookAtOperations()
    }

    private func expectRefusal(
        _ prediction: Prediction, _ number: Int, _ target: Model.Target,
        _ wait: () async throws(TaskOperationError) -> Void
    ) async throws {
        do throws(TaskOperationError) {
            try await wait()
            _ = meets(prediction, nil, "awaiting \(target) in \(number)")
        } catch {
            _ = meets(prediction, error, "awaiting \(target) in \(number)")
            throw error
        }
    }

    private func isOver(_ target: Model.Target) -> Bool {
        switch target {
        case .operation(let other): model.operations[other].phase == .finished
        case .queue(let queue): model.isEmpty(queue)
        }
    }
}
