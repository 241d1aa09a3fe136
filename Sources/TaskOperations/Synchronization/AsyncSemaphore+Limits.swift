// Semaphores as limits of operations: an operation takes a permit of each of its limits, all or none.

/// What claims permits for operations.
protocol LimitClaimant: AnyObject, Sendable {
    /// A claim has all its permits. Called with no lock held.
    func limitsWereTaken(_ claimant: AsyncSemaphore.Claimant)
}

extension AsyncSemaphore {
    /// A claim at several semaphores.
    struct Claimant: Sendable {
        let owner: any LimitClaimant
        let number: Int
        /// In the order in which they are locked.
        let limits: [AsyncSemaphore]
    }

    /// What follows from permits that came free, to be carried out with no lock held.
    struct LimitEffects: Sendable {
        fileprivate(set) var resumed: [CheckedContinuation<Void, any Error>] = []
        /// Claims that have their permits.
        fileprivate(set) var taken: [Claimant] = []

        func carryOut() {
            for claimant in taken { claimant.owner.limitsWereTaken(claimant) }
            for continuation in resumed { continuation.resume() }
        }

        var isEmpty: Bool { resumed.isEmpty && taken.isEmpty }

        mutating func append(_ other: LimitEffects) {
            resumed += other.resumed
            taken += other.taken
        }

        /// Takes the claims of an owner out.
        mutating func removeTaken(by owner: any LimitClaimant) -> [Claimant] {
            defer { taken.removeAll { $0.owner === owner } }
            return taken.filter { $0.owner === owner }
        }
    }

    /// Takes a permit of each of some semaphores; or makes a claim for them, and takes none.
    ///
    /// - Parameter level: Nil for a claim that was made before: if it is gone, nothing happens.
    static func take(_ claimant: Claimant, at level: PriorityLevel?) -> Bool {
        var attempt = LimitAttempt(number: claimant.number, level: level)
        return take(claimant, claimant.limits[...], &attempt)
    }

    private static func take(
        _ claimant: Claimant, _ limits: ArraySlice<AsyncSemaphore>, _ attempt: inout LimitAttempt
    ) -> Bool {
        guard let first = limits.first else { return attempt.succeeds }
        return first.storage.withLock { storage in
            let index = attempt.lookCount
            // Whoever withdraws a claim does so at its first limit first, so that none or all are found.
            guard attempt.look(at: storage.state) else { return false }
            let isTaken = take(claimant, limits.dropFirst(), &attempt)
            attempt.settle(&storage.state, index)
            // The caller keeps what was there.
            storage.claimants[claimant.number] = isTaken ? nil : claimant
            return isTaken
        }
    }

    /// Whether an operation that has ended may hand its permits to another one of a level.
    static func mayKeep(_ limits: [AsyncSemaphore], at level: PriorityLevel) -> Bool {
        limits.allSatisfy { limit in limit.storage.withLock { $0.state.mayKeep(at: level) } }
    }

    /// Gives back a permit of each of some semaphores.
    static func release(_ limits: [AsyncSemaphore]) -> LimitEffects {
        change(limits) { $0.state.release(1) }
    }

    /// Takes a claim back, if it has not got its permits.
    static func withdraw(_ claimant: Claimant) -> LimitEffects {
        change(claimant.limits) { storage in
            storage.state.withdraw(claimant.number)
            storage.claimants[claimant.number] = nil
        }
    }

    private static func change(_ limits: [AsyncSemaphore], _ event: (inout Storage) -> Void) -> LimitEffects {
        for limit in limits { limit.storage.withLock { event(&$0) } }
        return serve(limits)
    }

    func serveClaims() {
        Self.serve([self]).carryOut()
    }

    /// Serves what waits for semaphores, and for those that are touched by that.
    private static func serve(_ limits: [AsyncSemaphore]) -> LimitEffects {
        var (left, effects, tried) = (limits, LimitEffects(), [Int]())
        while let limit = left.last {
            let step = limit.storage.withLock { $0.serve(tried: tried) }
            effects.resumed += step.served
            guard let claimant = step.claim else {
                left.removeLast()
                continue
            }
            if take(claimant, at: nil) {
                effects.taken.append(claimant)
                // What stood behind it may be first now.
                tried = []
                left += claimant.limits
            } else {
                tried.append(claimant.number)
                left = claimant.limits + left
            }
        }
        return effects
    }
}

extension AsyncSemaphore.Storage {
    /// Serves waiting tasks, up to a claim that comes before the next one.
    mutating func serve(tried: [Int]) -> (
        served: [CheckedContinuation<Void, any Error>], claim: AsyncSemaphore.Claimant?
    ) {
        var served: [CheckedContinuation<Void, any Error>] = []
        while true {
            switch state.next(tried: tried) {
            case .waiter(let waiter): served.append(waiter)
            case .claim(let number): return (served, claimants[number]!)
            case nil: return (served, nil)
            }
        }
    }
}
