@testable import TaskOperations

extension SchedulerState {
    /// Adds an operation. Returns its slot; nil if the queue does not accept it.
    mutating func add(
        _ element: Element, level: PriorityLevel = .medium, isReady: Bool = false, isBarrier: Bool = false,
        isDelayed: Bool = false, weight: Int = 1
    ) -> Slot? {
        guard admitOrReject(element) else { return nil }
        let slot = nextSlot
        let newcomer = Newcomer(
            level: level, isReady: isReady, isBarrier: isBarrier, isDelayed: isDelayed, weight: weight)
        insert(element, newcomer, at: slot)
        return slot
    }
}

// Parts of the state that are created on demand; empty if they do not exist yet.
extension SchedulerState {
    var returning: ReadyQueue { permits.returning }
    var heldBack: EntryList { selection.optionalBarriers?.value.heldBack ?? EntryList() }
    var barriers: BarrierLine { selection.optionalBarriers?.value.line ?? BarrierLine() }
    var limitedOperations: LimitedOperations { limited ?? LimitedOperations(order: order) }
}

// The getters of these properties are mutating, but change nothing: see `SchedulerState.candidate`.
extension SchedulerState {
    var peekedLevel: PriorityLevel? {
        var copy = self
        return copy.nextLevel
    }

    var peekedCandidate: Candidate? {
        var copy = self
        return copy.candidate
    }
}

// Simple values in the place of operations. No test records their changes.

extension Int: QueueElement {
    var recordedIdentity: UInt64 { UInt64(bitPattern: Int64(self)) }
    var recordedEnd: ChangeRecord.End { .succeeded }
}

extension String: QueueElement {
    var recordedIdentity: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
    var recordedEnd: ChangeRecord.End { .succeeded }
}
