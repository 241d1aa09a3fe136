/// The state of an operation of Foundation, as its node sees it, and the commands that follow from an event. A pure
/// value: `LegacyNode` performs the returned commands with no lock held.
struct LegacyState {
    enum Phase: Comparable, Sendable {
        /// The operation is on no queue of this library. Only its end matters.
        case foreign
        /// A queue of this library will run it.
        case submitted
        /// The node's body runs, and has not started it.
        case begun
        /// The node has ended without starting it. It is now started as a cancelled operation, which finishes it.
        case abandoned
        /// It was started.
        case started
        case finished

        /// Whether the readiness of the operation has an effect in this phase.
        var isReadinessWanted: Bool { self == .submitted || self == .begun || self == .abandoned }
    }

    /// The observed properties of the operation. Its notifications do not say which property has changed.
    struct Sight: Sendable {
        var isReady: Bool
        var isCancelled: Bool
        var isFinished: Bool
    }

    /// The commands that follow from an observation.
    enum Command: Sendable {
        /// The node ends as a cancelled operation.
        case cancelNode
        /// Ends the operation that represents readiness, so that its waiters continue.
        case endReadiness
        /// The operation is started, to finish.
        case startAbandoned
        /// The node ends if it has not begun, and waiters for the end of the operation continue.
        case finish(wasOurs: Bool)
    }

    private enum Observation: Sendable { case none, beginning, established }

    private(set) var phase = Phase.foreign
    private var observation = Observation.none
    /// Whether a thread is examining the operation, and whether it must examine it again.
    private var isLooking = false
    private var mustLookAgain = false

    // MARK: The life

    /// Records that a queue of this library will have the operation. Returns false if a queue already has it.
    mutating func claim() -> Bool {
        if phase != .foreign { return false }
        phase = .submitted
        return true
    }

    /// The queue has refused the operation.
    mutating func refuse() {
        if phase == .submitted { phase = .foreign }
    }

    /// The body begins. Returns false if it has to wait until the observation is established.
    mutating func begin() -> Bool {
        if phase == .submitted { phase = .begun }
        return observation != .beginning
    }

    /// Whether the operation must still be finished after its node has ended.
    var isLeftUnstarted: Bool { phase == .submitted || phase == .begun }

    /// The node has ended, and the operation is cancelled, so it may now be started. Returns whether it must still be
    /// finished.
    mutating func nodeEnded() -> Bool {
        guard isLeftUnstarted else { return false }
        phase = .abandoned
        return true
    }

    // MARK: The start

    /// Returns the phase from which the caller must start the operation; nil if it must not.
    mutating func start() -> Phase? {
        guard phase == .begun || phase == .abandoned, observation != .beginning else { return nil }
        defer { phase = .started }
        return phase
    }

    /// Foundation considered the operation not ready, so it was not started.
    mutating func undoStart(from previous: Phase) {
        if phase == .started { phase = previous }
    }

    // MARK: Observation

    /// Returns whether the caller must establish the observation. After the body has begun, only the body establishes
    /// it, because it starts the operation through it.
    mutating func beginObservation(byBody: Bool = false) -> Bool {
        let isInPhase = byBody ? phase == .begun : phase == .submitted || phase == .abandoned
        guard observation == .none, isInPhase else { return false }
        observation = .beginning
        return true
    }

    mutating func observationBegan() { observation = .established }

    // MARK: Looking

    /// Records a possible change. Returns true if the caller must examine the operation, and repeat this until
    /// `beginLook` returns false.
    mutating func look() -> Bool {
        if phase == .finished { return false }
        mustLookAgain = true
        defer { isLooking = true }
        return !isLooking
    }

    /// Returns false if there was no change since the last examination began.
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
