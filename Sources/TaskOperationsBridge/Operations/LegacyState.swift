/// The state of a Foundation operation, as its node knows it. Each event returns the resulting commands. `LegacyNode`
/// performs the commands after unlocking.
struct LegacyState {
    enum Phase: Comparable, Sendable {
        /// The operation is on no queue of this library. Only its end is observed.
        case foreign
        /// A queue of this library will run the operation.
        case submitted
        /// The body of the node's operation is running, and has not started the operation yet.
        case begun
        /// The node's operation has ended without starting the operation. The operation is cancelled, and must be
        /// started to finish.
        case abandoned
        /// The operation was started.
        case started
        case finished

        /// Whether a change of the operation's readiness has an effect in this phase.
        var isReadinessWanted: Bool { self == .submitted || self == .begun || self == .abandoned }
    }

    /// The observed properties of the operation. All are read, because a notification does not name the changed
    /// property.
    struct Sight: Sendable {
        var isReady: Bool
        var isCancelled: Bool
        var isFinished: Bool
    }

    /// A command for the node.
    enum Command: Sendable {
        /// Cancels the node's operation.
        case cancelNode
        /// Ends the operation that represents readiness, so that its waiters continue.
        case endReadiness
        /// Starts a cancelled operation, so that it finishes.
        case startAbandoned
        /// Ends the node's operation if its body has not begun, and resumes all waiters for the end.
        case finish(wasOurs: Bool)
    }

    private enum Observation: Sendable { case none, beginning, established }

    private(set) var phase = Phase.foreign
    private var observation = Observation.none
    /// Whether a thread is examining the operation.
    private var isLooking = false
    /// Whether the operation must be examined again after a possible change.
    private var mustLookAgain = false

    // MARK: The life

    /// Records that the operation will be added to a queue of this library. Returns false if it was already added.
    mutating func claim() -> Bool {
        if phase != .foreign { return false }
        phase = .submitted
        return true
    }

    /// Records that the queue has refused the operation.
    mutating func refuse() {
        if phase == .submitted { phase = .foreign }
    }

    /// Records that the body begins. Returns false if the body must wait until the observation is established.
    mutating func begin() -> Bool {
        if phase == .submitted { phase = .begun }
        return observation != .beginning
    }

    /// Whether the operation was added to a queue of this library but never started.
    var isLeftUnstarted: Bool { phase == .submitted || phase == .begun }

    /// Records that the node's operation has ended and the operation is cancelled. Returns true if the operation must
    /// still be started to finish.
    mutating func nodeEnded() -> Bool {
        guard isLeftUnstarted else { return false }
        phase = .abandoned
        return true
    }

    // MARK: The start

    /// Records the start of the operation, and returns the previous phase. Returns nil if the caller must not start the
    /// operation.
    mutating func start() -> Phase? {
        guard phase == .begun || phase == .abandoned, observation != .beginning else { return nil }
        defer { phase = .started }
        return phase
    }

    /// Records that the operation was not started, because it was not ready.
    mutating func undoStart(from previous: Phase) {
        if phase == .started { phase = previous }
    }

    // MARK: Observation

    /// Returns whether the caller must establish the observation. After the body has begun, only the body may do this.
    /// The body uses the observation to start the operation.
    mutating func beginObservation(byBody: Bool = false) -> Bool {
        let isInPhase = byBody ? phase == .begun : phase == .submitted || phase == .abandoned
        guard observation == .none, isInPhase else { return false }
        observation = .beginning
        return true
    }

    mutating func observationBegan() { observation = .established }

    // MARK: Looking

    /// Records a possible change. If it returns true, the caller must examine the operation after each `beginLook` that
    /// returns true.
    mutating func look() -> Bool {
        if phase == .finished { return false }
        mustLookAgain = true
        defer { isLooking = true }
        return !isLooking
    }

    /// Begins an examination. Returns false if no change was recorded since the last examination began.
    mutating func beginLook() -> Bool {
        isLooking = mustLookAgain && phase != .finished
        mustLookAgain = false
        return isLooking
    }

    mutating func saw(_ sight: Sight) -> [Command] {
        if phase == .finished { return [] }
        if sight.isFinished {
            defer { phase = .finished }
            return [.finish(wasOurs: phase != .foreign), .endReadiness]
        }
        switch phase {
        case .submitted where sight.isCancelled: return [.cancelNode, .endReadiness]
        case .submitted, .begun: return sight.isReady || sight.isCancelled ? [.endReadiness] : []
        case .abandoned: return sight.isReady && observation != .beginning ? [.startAbandoned] : []
        case .foreign, .started, .finished: return []
        }
    }
}
