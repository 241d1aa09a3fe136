import Synchronization

extension AsyncSemaphore {
    /// Corrects the cost of the operation whose body calls this function. The semaphore is a limit of the operation.
    ///
    /// The cost that `OperationOptions.limit(_:key:weight:cost:)` states was used when the present attempt started. If the
    /// actual cost is lower, the difference is available at once. If it is higher, the difference is used now, even if it
    /// is not available: later starts wait until the rates have replaced it. Rates of starts do not change. This is the
    /// generic cell rate algorithm (ITU-T Recommendation I.371, annex A) with a debt, as in the `RateLimiter` of Google
    /// Guava. The call takes the same time as `release(weight:)`.
    ///
    /// ```swift
    /// queue.addOperation(.limit(model, key: provider, cost: estimate)) {
    ///     let answer = try await provider.ask(question)
    ///     model.settle(answer.tokenCount)
    ///     return answer
    /// }
    /// ```
    ///
    /// A body can call the function several times, for example for each part of an answer. The last call of an attempt
    /// applies. An attempt that cost nothing settles 0; without a correction, a failed attempt costs the same as a
    /// successful one.
    ///
    /// - Parameter cost: The cost of the present attempt up to now; not negative. A negative number stops the process with
    ///   a message.
    /// - Returns: Whether the calling task belongs to a body whose operation has this limit. Otherwise, for example in
    ///   an unstructured task, after the end of the body or in `withPermit`, the call has no effect.
    @discardableResult
    public func settle(_ cost: Int) -> Bool {
        checkCost(cost)
        guard let (request, former) = AnyTaskOperation.current?.replaceCost(of: self, by: cost) else { return false }
        apply { storage in
            storage.state.correct(by: cost - former, for: request.key?.number)
            if let key = request.key { storage.keepForTokens(key) }
        }
        // The key may be the last reference, and is released after unlocking.
        extendLifetime(request)
        return true
    }

    func checkCost(_ cost: Int) {
        require(
            cost >= 0,
            "The cost of an operation at \(label) is \(cost); it must not be negative. Pass 0 for an operation that costs nothing."
        )
    }

    /// Gives no more permits for a duration, for example because another system has answered with `Retry-After`.
    ///
    /// Tasks, operations and further attempts wait until the pause is over. Operations that execute continue. A pause is
    /// never shortened: of several pauses, the last end applies. The semaphore's clock measures the pause. The call takes
    /// O(log *n*) time with *n* keys in use.
    ///
    /// ```swift
    /// model.pause(for: .seconds(20), key: provider)
    /// ```
    ///
    /// - Parameters:
    ///   - duration: The length of the pause. A duration that is not positive has no effect.
    ///   - key: The key to pause. Nil pauses all keys, and everything without a key.
    public func pause<Key: Hashable & Sendable>(for duration: Duration, key: Key? = Int?.none) {
        pause(for: duration, interned(key))
    }

    /// Gives no more permits until an instant. See `pause(for:key:)`.
    ///
    /// - Parameters:
    ///   - instant: The end of the pause. An instant that has passed has no effect.
    ///   - key: The key to pause. Nil pauses all keys, and everything without a key.
    ///   - clock: The clock of the instant.
    public func pause<C: Clock, Key: Hashable & Sendable>(
        until instant: C.Instant, key: Key? = Int?.none, clock: C = ContinuousClock()
    ) where C.Duration == Duration {
        pause(for: clock.now.duration(to: instant), interned(key))
    }

    /// Whether a pause in total, or of a key, is not over. For example, a caller can then ask another provider.
    ///
    /// - Parameter key: The key; nil for the pause of all keys.
    public func isPaused<Key: Hashable & Sendable>(key: Key? = Int?.none) -> Bool {
        let key = interned(key)
        defer { extendLifetime(key) }
        return apply { $0.state.isPaused(key?.number) }
    }

    func pause(for duration: Duration, _ key: LimitKey?) {
        if duration <= .zero { return }
        prepareClock()
        apply { storage in
            storage.state.pause(for: duration, key?.number)
            if let key { storage.keepForTokens(key) }
        }
        extendLifetime(key)
    }
}

extension AnyTaskOperation {
    /// Records the cost of the present attempt at a limit. Returns the request of the limit and the former cost; nil if
    /// the operation does not have the limit.
    fileprivate func replaceCost(of limit: AsyncSemaphore, by cost: Int) -> (request: LimitRequest, former: Int)? {
        record.withLock { record in
            guard let links = record.links, let request = links.limits.first(where: { $0.limit === limit }) else {
                return nil
            }
            let former = links.madeExtras().settledCosts.updateValue(cost, forKey: limit.number)
            return (request, former ?? request.cost)
        }
    }
}
