import TaskOperations
import Testing

// The parts of an error by name, so that a test can compare them with literals. Each is nil if the error is of another
// case.
extension TaskOperationError {
    var dependencyCycle: [String?]? {
        if case .dependencyCycle(let labels) = self { labels.map(\.name) } else { nil }
    }

    var waitCycle: [String?]? {
        if case .waitCycle(let labels) = self { labels.map(\.name) } else { nil }
    }

    var alreadyAdded: String? {
        if case .alreadyAdded(let label) = self { label.name } else { nil }
    }

    var alreadyStarted: String? {
        if case .alreadyStarted(let label) = self { label.name } else { nil }
    }

    /// The names of the operations that the refused operation waits for.
    var notReadyFor: [String?]? {
        if case .notReady(_, let labels) = self { labels.map(\.name) } else { nil }
    }

    var failedDependency: (dependency: String?, origin: String?, error: any Error)? {
        guard case .dependencyFailed(let dependency, let origin, let error) = self else { return nil }
        return (dependency.name, origin.name, error)
    }

    var timedOut: (name: String?, limit: Duration)? {
        if case .timedOut(.operation(let label), let limit) = self { (label.name, limit) } else { nil }
    }

    var notStarted: (name: String?, limit: Duration)? {
        if case .startTimedOut(let label, let limit) = self { (label.name, limit) } else { nil }
    }

    var queueShutDown: String? {
        if case .queueShutDown(let label, _) = self { label.name } else { nil }
    }
}

extension AnyTaskOperation {
    /// The operation's failure, if it is an error of this library.
    var refusal: TaskOperationError? { failure as? TaskOperationError }
}

/// Expects that a call stops waiting because its time is over, and returns its timeout.
@discardableResult
func waitTimeout<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, of wait: () async throws -> Value
) async -> Duration? {
    let error = await #expect(throws: TaskOperationError.self, sourceLocation: sourceLocation) {
        _ = try await wait()
    }
    guard case .timedOut(.wait, let timeout)? = error else {
        Issue.record("\(String(describing: error)) is no timeout of a wait", sourceLocation: sourceLocation)
        return nil
    }
    return timeout
}

/// The error that bodies throw in these tests.
struct WorkFailed: Error, Equatable {
    var number = 0
}

/// Expects that this library refuses a call, and returns the error.
@discardableResult
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, of misuse: () throws -> Void
) -> TaskOperationError? {
    #expect(throws: TaskOperationError.self, sourceLocation: sourceLocation) { try misuse() }
}
