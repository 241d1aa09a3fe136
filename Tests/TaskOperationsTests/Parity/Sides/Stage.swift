import Foundation
import TaskOperations
import TaskOperationsTesting
import Testing

/// The environment of a scenario. It creates queues and operations of one kind, and keeps their log.
struct Stage: Sendable {
    enum Side: CaseIterable, Sendable {
        case foundation, taskOperations
    }

    let side: Side
    private let log = Recorder<String>()

    init(_ side: Side) {
        self.side = side
    }

    /// The entries of the log so far.
    var said: [String] { log.events }

    func say(_ words: String) { log.record(words) }

    func queue(_ name: String = "queue", width: Int = 1, isSuspended: Bool = false) -> any QueueUnderTest {
        switch side {
        case .foundation: FoundationQueue(name: name, width: width, isSuspended: isSuspended, log: log)
        case .taskOperations: TaskQueue(name: name, width: width, isSuspended: isSuspended, log: log)
        }
    }

    func operation(_ priority: Priority = .normal, _ steps: Step...) -> any OperationUnderTest {
        switch side {
        case .foundation: FoundationOperation(priority: priority, steps: steps, log: log)
        case .taskOperations: TaskSideOperation(priority: priority, steps: steps, log: log)
        }
    }

    /// The name of the queue whose operation is the caller.
    var currentQueueName: String? {
        switch side {
        case .foundation: OperationQueue.current?.name
        case .taskOperations: TaskOperationQueue.current?.name
        }
    }

    /// Runs an operation to its end on another queue. The duration is long enough to detect an operation that starts
    /// too early.
    func letTimePass() async throws {
        let operation = operation()
        try queue("elsewhere").add(operation)
        try await operation.waitForEnd()
    }
}

/// Runs a scenario on Foundation's queue and on a queue of this library. Expects that both produce the given log.
func expectBoth(
    toSay expected: [String], sourceLocation: SourceLocation = #_sourceLocation,
    in scenario: (Stage) async throws -> Void
) async throws {
    for side in Stage.Side.allCases {
        let stage = Stage(side)
        try await scenario(stage)
        #expect(stage.said == expected, "\(side)", sourceLocation: sourceLocation)
    }
}
