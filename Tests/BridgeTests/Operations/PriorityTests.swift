import Dispatch
import Foundation
import TaskOperationsBridge
import TestSupport
import Testing

@Suite("One table of priorities, read in both directions", .inTurns)
struct PriorityTests {
    private static let userInteractive = TaskPriority(rawValue: 33)

    @Test(
        "each row maps to itself and back",
        arguments: [
            (userInteractive, .veryHigh, .userInteractive, .userInteractive),
            (.high, .high, .userInitiated, .userInitiated),
            (.medium, .normal, .default, .default),
            (.low, .low, .utility, .utility),
            (.background, .veryLow, .background, .background),
        ] as [(TaskPriority, Foundation.Operation.QueuePriority, QualityOfService, DispatchQoS)])
    func rows(
        task: TaskPriority, queue: Foundation.Operation.QueuePriority, service: QualityOfService, dispatch: DispatchQoS
    ) {
        #expect(TaskPriority(queue) == task)
        #expect(TaskPriority(service) == task)
        #expect(TaskPriority(dispatch) == task)
        #expect(TaskPriority(dispatch.qosClass) == task)
        #expect(Foundation.Operation.QueuePriority(task) == queue)
        #expect(QualityOfService(task) == service)
        #expect(DispatchQoS(task) == dispatch)
    }

    @Test("a task priority between two rows counts as the lower one, and one beyond the table as its end")
    func betweenRows() {
        #expect(QualityOfService(TaskPriority(rawValue: 32)) == .userInitiated)
        #expect(Foundation.Operation.QueuePriority(TaskPriority(rawValue: 20)) == .low)
        #expect(DispatchQoS(TaskPriority(rawValue: 255)) == .userInteractive)
        #expect(QualityOfService(TaskPriority(rawValue: 1)) == .background)
    }

    @Test("an unspecified quality of service of Dispatch is the default one")
    func unspecified() {
        #expect(TaskPriority(DispatchQoS.unspecified) == .medium)
        #expect(TaskPriority(DispatchQoS(qosClass: .utility, relativePriority: -5)) == .low)
    }

    @Test("an operation has the priority of its queuePriority, and without one that of its quality of service")
    func operation() {
        let operation = BlockOperation {}
        #expect(TaskPriority(operation) == .medium)
        operation.qualityOfService = .userInitiated
        #expect(TaskPriority(operation) == .high)
        operation.queuePriority = .veryLow
        #expect(TaskPriority(operation) == .background)
    }
}
