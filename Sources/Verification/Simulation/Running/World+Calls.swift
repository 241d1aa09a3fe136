import TaskOperations

// Synchronous calls, by bodies and by the program itself.

extension World {
    func perform(_ call: Call) {
        note("\(call)")
        switch call {
        case .add(let numbers, let queue): add(numbers, to: queue)
        case .addBarrier(let number, let queue): addBarrier(number, to: queue)
        case .cancel(let number):
            operations[number].cancel()
            model.cancel(number)
        case .cancelAll(let queue):
            guard let real = queues[queue] else { return }
            real.cancelAllOperations()
            model.cancelAll(queue)
        case .setSuspended(let queue, let isSuspended):
            guard let real = queues[queue] else { return }
            real.isSuspended = isSuspended
            model.setSuspended(queue, isSuspended)
        case .setWidth(let queue, let width):
            guard let real = queues[queue] else { return }
            real.maxConcurrentOperationCount = width
            model.setWidth(queue, width)
        case .setPendingLimit(let queue, let limit):
            guard let real = queues[queue] else { return }
            real.maxQueuedOperationCount = limit
            model.setPendingLimit(queue, limit)
        case .setCap(let queue, let level, let count):
            guard let real = queues[queue] else { return }
            real.setMaxConcurrentOperationCount(count, for: TaskPriority.levels[level])
            model.setCap(queue, Int(TaskPriority.levels[level].rawValue), count)
        case .setLevel(let number, let level):
            operations[number].priority = TaskPriority.levels[level]
            model.setLevel(number, level)
        case .advance(let seconds): advance(by: seconds)
        case .depend(let number, let other): addDependency(other, to: number)
        case .undepend(let number, let other): removeDependency(other, of: number)
        case .shutDown(let queue, let isCancelling):
            guard let real = queues[queue] else { return }
            real.shutDown(isCancelling ? .cancel : .drain)
            model.shutDown(queue, isCancelling: isCancelling)
        }
        look()
    }

    private func add(_ numbers: [Int], to queue: Int) {
        guard let real = queues[queue] else { return }
        let prediction = model.adding(numbers, to: queue, isBarrier: false)
        let isAccepted = attempt(prediction, "adding \(numbers) to queue \(queue)") { () throws(TaskOperationError) in
            if numbers.count == 1 {
                try real.addOperation(operations[numbers[0]])
            } else {
                try real.addOperations(numbers.map { operations[$0] })
            }
        }
        if isAccepted { wereAdded(numbers, to: queue, isBarrier: false) }
    }

    private func addBarrier(_ number: Int, to queue: Int) {
        guard let real = queues[queue] else { return }
        let prediction = model.adding([number], to: queue, isBarrier: true)
        let isAccepted = attempt(prediction, "adding barrier \(number) to queue \(queue)") {
            () throws(TaskOperationError) in try real.addBarrier(operations[number])
        }
        if isAccepted { wereAdded([number], to: queue, isBarrier: true) }
    }

    /// Records an addition, and then adds handlers. The handler of an operation that was cancelled before its addition
    /// would be called outside of the executor.
    private func wereAdded(_ numbers: [Int], to queue: Int, isBarrier: Bool) {
        model.add(numbers, to: queue, isBarrier: isBarrier)
        addHandlers(to: numbers)
    }

    func addHandlers(to numbers: [Int]) {
        for number in numbers where program.operations[number].hasHandler {
            if model.operations[number].phase == .finished { continue }
            model.addHandler(to: number)
            operations[number].addCompletionHandler { [unowned self] _ in
                note("handler of \(number)")
                lookAtOperations()
                model.handlerCalled(of: number)
            }
        }
    }

    private func addDependency(_ other: Int, to number: Int) {
        let prediction = model.addingDependency(other, to: number)
        let isAccepted = attempt(prediction, "making \(number) depend on \(other)") {
            () throws(TaskOperationError) in try operations[number].addDependency(operations[other])
        }
        if isAccepted { model.addDependency(other, to: number) }
    }

    private func removeDependency(_ other: Int, of number: Int) {
        let prediction = model.removingDependency(of: number)
        let isAccepted = attempt(prediction, "making \(number) not depend on \(other)") {
            () throws(TaskOperationError) in try operations[number].removeDependency(operations[other])
        }
        if isAccepted { model.removeDependency(other, of: number) }
    }

    /// Makes a call that the library may reject, and compares the result with the prediction. Returns whether the call
    /// was accepted.
    private func attempt(
        _ prediction: Prediction, _ call: String, _ make: () throws(TaskOperationError) -> Void
    ) -> Bool {
        do {
            try make()
            return meets(prediction, nil, call)
        } catch {
            _ = meets(prediction, error, call)
            return false
        }
    }

    /// Checks the result of a call. Returns whether the call was accepted.
    func meets(_ prediction: Prediction, _ error: TaskOperationError?, _ call: String) -> Bool {
        let refusal = error.flatMap { Refusal($0) }
        let isMet =
            switch prediction {
            case .accepted: error == nil
            case .refused(let expected): refusal == expected
            case .refusedAny(let expected): refusal.map { expected.contains($0) } == true
            case .perhapsRefused(let expected): error == nil || refusal == expected
            }
        model.check(isMet, "\(call) came to \(error.map { "\($0)" } ?? "be accepted"), predicted: \(prediction)")
        return error == nil
    }
}

extension Refusal {
    /// Creates the reason of an error; nil if the error is not a reason for which a call here can be rejected.
    init?(_ error: TaskOperationError) {
        switch error {
        case .alreadyAdded: self = .alreadyAdded
        case .alreadyStarted: self = .alreadyStarted
        case .dependencyCycle: self = .dependencyCycle
        case .waitCycle: self = .waitCycle
        case .notReady, .dependencyFailed, .queueShutDown, .queueFull, .dropped, .weightExceedsCapacity,
            .limitFull, .startTimedOut, .timedOut, .bodyNotCalled:
            return nil
        }
    }
}

// MARK: - When nothing is left to run

extension World {
    /// Advances the clock to the next deadline. Without a deadline, removes all blocks: resumes queues, raises limits
    /// of 0, and adds or cancels remaining operations. Returns false if the program was not blocked.
    func unblock() -> Bool {
        note("nothing is left to run")
        for queue in queues.indices where queues[queue] != nil { model.checkIdle(queue, levels: orderLevels) }
        checkWakes()
        if goOnInTime() { return true }
        let before = model.blocks
        for queue in queues.indices where queues[queue] != nil {
            if model.queues[queue].isSuspended { perform(.setSuspended(queue, false)) }
            if model.queues[queue].width == 0 { perform(.setWidth(queue, 1)) }
            for level in TaskPriority.levels.indices where isClosed(level, of: queue) {
                perform(.setCap(queue, level: level, 1))
            }
            if !model.queues[queue].waitingForRoom.isEmpty { perform(.setPendingLimit(queue, .max)) }
        }
        for number in operations.indices where model.operations[number].phase == .created {
            perform(.add([number], to: 0))
            if model.operations[number].phase == .created { perform(.cancel(number)) }
        }
        return before > 0
    }

    private func isClosed(_ level: Int, of queue: Int) -> Bool {
        model.queues[queue].caps[Int(TaskPriority.levels[level].rawValue)] == 0
    }
}

extension Model {
    /// The number of blocks that the program has to remove.
    fileprivate var blocks: Int {
        queues.count {
            $0.isSuspended || $0.width == 0 || !$0.waitingForRoom.isEmpty || $0.caps.values.contains(0)
        }
            + operations.count { $0.phase == .created }
    }
}
