@testable import TaskOperations

extension SchedulerState {
    /// Adds an operation. Returns its slot; nil if the queue does not take it.
    mutating func add(
        _ element: Element, level: PriorityLevel = .medium, isReady: Bool = false, isBarrier: Bool = false,
        weight: Int = 1
    ) -> Slot? {
        guard takesIn(element) else { return nil }
        let slot = nextSlot
        insert(element, Newcomer(level: level, isReady: isReady, isBarrier: isBarrier, weight: weight), at: slot)
        return slot
    }
}
