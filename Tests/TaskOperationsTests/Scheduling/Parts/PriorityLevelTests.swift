import TestSupport
import Testing

@testable import TaskOperations

@Suite("PriorityLevel", .inTurns)
struct PriorityLevelTests {
    @Test("Each level is that of its task priority, in the same order")
    func roundTrip() {
        for level in PriorityLevel.allCases { #expect(PriorityLevel(level.taskPriority) == level) }
        for (lower, higher) in zip(PriorityLevel.allCases, PriorityLevel.allCases.dropFirst()) {
            #expect(lower < higher)
            #expect(lower.taskPriority < higher.taskPriority)
        }
    }

    @Test("A priority between two levels counts as the lower one, and none is too low or too high")
    func everyRawValue() {
        for rawValue in UInt8.min...UInt8.max {
            let level = PriorityLevel(TaskPriority(rawValue: rawValue))
            let highest = PriorityLevel.allCases.last { $0.taskPriority.rawValue <= rawValue }
            #expect(level == highest ?? .background)
        }
    }

    @Test(
        "The names of the standard library are these levels",
        arguments: [
            (TaskPriority.background, PriorityLevel.background), (.utility, .low), (.low, .low), (.medium, .medium),
            (.high, .high), (.userInitiated, .high),
        ])
    func namedPriorities(priority: TaskPriority, level: PriorityLevel) {
        #expect(PriorityLevel(priority) == level)
    }
}
