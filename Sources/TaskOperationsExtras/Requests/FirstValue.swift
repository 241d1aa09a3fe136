#if TASK_OPERATIONS_EXPLORED
    public import TaskOperations  // its clock
#else
    import TaskOperations
#endif

/// Calls a function with several sources, and returns the first value.
///
/// Use it if several servers can answer the same question, and the slowest answers matter:
///
/// ```swift
/// let data = try await firstValue(of: mirrors, hedgingAfter: .milliseconds(80), budget: budget) { mirror in
///     try await fetch(mirror)
/// }
/// ```
///
/// The call for the first source begins at once. The call for the next source begins when `delay` has passed since the
/// last beginning, and at once when a call fails. When a call succeeds, the other calls are cancelled. The function
/// returns after they have ended. If the caller is cancelled, all calls are cancelled, and no further call begins.
///
/// To ask the same server again, pass a range, and let errors end the call. Otherwise each error would be asked for twice:
///
/// ```swift
/// try await firstValue(of: 0..<2, hedgingAfter: .milliseconds(80), isFinal: { _ in true }) { _ in try await fetch(url) }
/// ```
///
/// A delay near the 95th percentile of the latencies adds about 5 % of calls. These are the hedged requests of J. Dean and
/// L. A. Barroso, "The Tail at Scale", CACM 56(2), 2013. See <doc:TheFirstOfSeveral>.
///
/// The calls run in child tasks. A call of this function costs a child task for each call that begins, and one for each
/// delay. All delays on one clock share a sleeping task.
///
/// - Parameters:
///   - sources: The sources, in their order. Each is used at most once.
///   - delay: The time after which the next call begins although no call has failed. With `.zero`, all calls begin
///     together. If nil, a call begins only after a failure.
///   - budget: The budget of further calls. A call that begins because `delay` has passed takes a token, or does not
///     begin if there is none. A call that begins because all others have failed takes no token. The success of this
///     function counts for the budget. If nil, the number of further calls is unlimited.
///   - isFinal: Returns whether an error of a call is thrown at once, and ends the other calls. Return true if another
///     source would only repeat the error. By default, no error is final.
///   - losers: The group of calls that are still ending. If it is not nil, the function returns without waiting for
///     them. Each call is in the group until it ends. The calls then run in unstructured tasks, which have no current
///     operation.
///   - clock: The clock that measures the delay.
///   - isolation: The actor to which this function is isolated; by default, the caller's actor.
///   - body: The call. It must be safe to execute more than once, because several calls can succeed.
/// - Returns: The value of the first call that succeeds.
/// - Throws: The error of the call that failed last, if all fail; a final error at once.
///   - `CancellationError` if the caller is cancelled and no call succeeds.
///   - `NoSourceError` if there are no sources.
public func firstValue<Source: Sendable, Value: Sendable>(
    of sources: some Sequence<Source>, hedgingAfter delay: Duration?, budget: RetryBudget? = nil,
    isFinal: @Sendable (any Error) -> Bool = { _ in false }, losers: AsyncGroup? = nil,
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (Source) async throws -> Value
) async throws -> Value {
    let result = await withTaskGroup(
        of: CallEvent<Value>.self, returning: Result<Value, any Error>.self, isolation: isolation
    ) { group in
        var iterator = sources.makeIterator()
        // A source is taken early, so that no delay begins and no token is taken without one.
        var next = iterator.next()
        var (startCount, runningCount) = (0, 0)
        var pause: Promise<Void>?
        var result = Result<Value, any Error>.failure(NoSourceError())

        func start() {
            guard let source = next.take() else { return }
            next = iterator.next()
            startCount += 1
            runningCount += 1
            group.addTask { .ended(await outcome(of: source, body, losers)) }
            // The task that waits since the former beginning ends, so that at most one task waits.
            pause?.provide(())
            guard let delay, next != nil, delay > .zero else { return }
            let (number, new) = (startCount, Promise<Void>())
            pause = new
            group.addTask {
                await wait(delay, for: new, clock)
                return .delayPassed(sinceStart: number)
            }
        }

        start()
        if let delay, delay <= .zero {
            while next != nil, !Task.isCancelled, budget?.takeToken() ?? true { start() }
        }
        calls: while let event = await group.next(isolation: isolation) {
            switch event {
            case .delayPassed(let number):
                // A call that has failed in the meantime began the delay again.
                if number == startCount, next != nil, !Task.isCancelled, budget?.takeToken() ?? true { start() }
            case .ended(.success(let value)):
                result = .success(value)
                break calls
            case .ended(.failure(let error)):
                runningCount -= 1
                result = .failure(error)
                if Task.isCancelled {
                    if !(error is CancellationError) { result = .failure(CancellationError()) }
                } else if isFinal(error) {
                    break calls
                } else {
                    start()
                }
                if runningCount == 0 { break calls }
            }
        }
        group.cancelAll()
        // Waits for the other calls. Their results are released here.
        while await group.next(isolation: isolation) != nil {}
        return result
    }
    if case .success = result { budget?.addSuccess() }
    return try result.get()
}

private enum CallEvent<Value: Sendable>: Sendable {
    case ended(Result<Value, any Error>)
    /// The delay after the beginning of a call has passed, or another call has begun.
    case delayPassed(sinceStart: Int)
}

/// Waits until a promise is fulfilled, a delay has passed, or the task is cancelled.
private func wait(_ delay: Duration, for end: Promise<Void>, _ clock: any Clock<Duration>) async {
    await withTaskCancellationHandler {
        await withTimeoutHandler(delay, clock: clock) {
            await end.value
        } onTimeout: {
            end.provide(())
        }
    } onCancel: {
        end.provide(())
    }
}

/// Calls a function. If there is a group, the function runs in an unstructured task, and the wait for it ends when the
/// calling task is cancelled.
private func outcome<Source: Sendable, Value: Sendable>(
    of source: Source, _ body: @escaping @Sendable (Source) async throws -> Value, _ losers: AsyncGroup?
) async -> Result<Value, any Error> {
    guard let losers else { return await Result { try await body(source) } }
    let end = Promise<Result<Value, any Error>>()
    losers.enter()
    let task = Task {
        let result = await Result { try await body(source) }
        // In this order, so that a winner has left the group when the caller continues.
        losers.leave()
        end.provide(result)
    }
    return await withTaskCancellationHandler {
        await end.value
    } onCancel: {
        task.cancel()
        end.provide(.failure(CancellationError()))
    }
}

extension Result where Failure == any Error, Success: Sendable {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// The error of `firstValue` if there are no sources.
public struct NoSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    public var description: String { "firstValue was called without sources. Pass at least one." }
}
