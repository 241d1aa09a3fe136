import Synchronization

// What wraps the body of an operation: the interceptors of its queue, and the policies of its options.

/// A function that wraps each body of a queue.
struct BodyInterceptor: Sendable {
    typealias Function = @Sendable (AnyTaskOperation, () async throws -> Void) async throws -> Void

    // A lock must contain a function only within a type of its own. Otherwise, each access to the lock wraps the
    // function once more: https://github.com/swiftlang/swift/issues/91348
    let run: Function
}

extension AnyTaskOperation {
    var isInternal: Bool { record.withLock { $0.isInternal } }
}

extension Scheduler {
    /// Adds an interceptor that wraps the present ones.
    nonisolated func addInterceptor(_ run: @escaping BodyInterceptor.Function) {
        interceptor.set { inner in
            guard let inner else { return BodyInterceptor(run: run) }
            return BodyInterceptor { operation, body in
                try await run(operation) { try await inner.run(operation, body) }
            }
        }
    }

    /// Runs a body within the interceptors of this queue.
    nonisolated func runIntercepted(_ operation: AnyTaskOperation, on bodyTask: BodyTask) async -> Outcome? {
        guard let interceptor = interceptor.value, !operation.isInternal else {
            return await operation.run(on: bodyTask)
        }
        var outcome: Outcome??
        do {
            try await interceptor.run(operation) {
                require(
                    outcome == nil, "A body interceptor called the body of \(OperationLabel(operation)) twice.")
                let result = await runUnintercepted(operation)
                outcome = .some(result)
                if case .failure(let error)? = result?.result { throw error }
            }
        } catch {
            if outcome == nil {
                operation.discardBody()
                return Outcome(.failure(error))
            }
        }
        if let outcome { return outcome }
        operation.discardBody()
        return Outcome(.failure(TaskOperationError.bodyNotCalled(OperationLabel(operation))))
    }

    /// Runs a body that an interceptor calls, in the place of the queue: the interceptor may call it on another executor,
    /// and in a child task. The body has its own `BodyTask`, because other child tasks of the interceptor are no part of the
    /// body.
    private nonisolated func runUnintercepted(_ operation: AnyTaskOperation) async -> Outcome? {
        if case .mainActor = place { return await Self.runOnMainActor(operation) }
        return await Self.runOffActors(operation)
    }

    // The compiler omits a hop before the call of a `nonisolated(nonsending)` function. Synchronous code, such as the
    // creation of the `BodyTask`, forces the hop.

    @MainActor
    private static func runOnMainActor(_ operation: AnyTaskOperation) async -> Outcome? {
        MainActor.preconditionIsolated()
        let bodyTask = BodyTask()
        return await bodyTask.whileFound { await operation.run(on: bodyTask) }
    }

    @concurrent
    private static func runOffActors(_ operation: AnyTaskOperation) async -> Outcome? {
        let bodyTask = BodyTask()
        return await bodyTask.whileFound { await operation.run(on: bodyTask) }
    }
}

// MARK: - Policies

extension TaskOperation {
    /// Runs a body with the policies in the operation's options. `OperationOptions` documents the order of policies.
    ///
    /// - Parameter options: The options at the addition that wrapped the body.
    // Inlined: Cost, row 19.
    @inline(__always)
    static func runWithPolicies(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        let operation = AnyTaskOperation.current!
        let (endTimeout, isOutdated) = operation.record.withLock { ($0.links?.endTimeout, $0.wrapping == .outdated) }
        let options = isOutdated ? operation.completedOptions.body : options
        guard let limit = endTimeout ?? options.timeout.map({ EndTimeout($0, of: operation, options, isOfBody: true) })
        else {
            return try await attempts(body, options)
        }
        var timer: (any DeadlineTarget)?
        if let timeout = options.timeout {
            timer = endTimeout == nil ? limit : HandlerTimer { limit.pass(timeout) }
            timer!.startTimer(timeout, clock: options.clock)
        }
        do {
            let value = try await attempts(body, options)
            timer?.endTimer()
            // A value is kept if the limit has passed: its effects have happened.
            limit.endBody()
            return value
        } catch {
            timer?.endTimer()
            throw limit.endBody() ?? error
        }
    }

    @inline(__always)
    private static func attempts(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        guard let policy = options.retry else {
            return options.attemptTimeout == nil ? try await body() : try await attempt(body, options)
        }
        return try await policy.run(for: current, isolation: #isolation) {
            try await attempt(body, options)
        } wait: { pause, next in
            await waitLendingPermit(for: pause, before: next, clock: options.clock)
        }
    }

    private static func attempt(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        guard let limit = options.attemptTimeout else { return try await body() }
        let label = OperationLabel(AnyTaskOperation.current!)
        return try await withCancelledBody(after: limit, clock: options.clock, keepsValue: true, body) {
            TaskOperationError.timedOut(.operation(label), after: limit)
        }
    }
}

extension AnyTaskOperation {
    /// Waits until a pause is over, and until the rates of the queue and of the limits allow an attempt. During this
    /// wait, the body lends its permits. If the task is cancelled, the body does not take the permits back, and must end.
    static func waitLendingPermit(for pause: Duration, before attempt: Int, clock: any Clock<Duration>) async {
        // See `ClockFace.sleep(for:)`.
        if pause <= .zero { await Task.yield() }
        let (scheduler, limits) = current?.record.withLock { ($0.scheduler, $0.links?.limits ?? []) } ?? (nil, [])
        let mayWait = scheduler?.hasRate == true || limits.contains { $0.mayHoldBackAttempts }
        if pause <= .zero, !mayWait { return }
        let face = ClockFace(clock)
        let end = face.moment(after: pause)
        await lendingPermit(for: .pause(attempt: attempt, length: pause), continues: { !Task.isCancelled }) {
            await lendingLimits {
                if pause > .zero { await face.sleep(until: end) }
                if !Task.isCancelled { await scheduler?.waitForAttempt() }
            }
        }
    }
}
