import TaskOperations
import TaskOperationsDiagnosis

/// Follows the operations of a program by their events alone, and reports events that contradict each other.
final class EventCheck: TaskOperationObserver, @unchecked Sendable {
    // Only the single thread of the executor uses this state.

    /// The state of an operation according to its events.
    enum Place: Equatable {
        case unknown, added, ready, executing, lent
        case finished(Model.Outcome)
    }

    private(set) var places: [Place]
    private var isCancelled: [Bool]
    /// The number of the next event of each queue, by the queue's label.
    private var next: [QueueLabel: UInt64] = [:]
    private(set) var complaints: [String] = []

    init(operationCount: Int) {
        places = [Place](repeating: .unknown, count: operationCount)
        isCancelled = [Bool](repeating: false, count: operationCount)
    }

    func operationChanged(_ event: TaskOperationEvent) {
        let expected = next[event.queue] ?? event.number
        if event.number != expected { complaints.append("\(event) came in place of \(expected)") }
        next[event.queue] = event.number + 1
        guard let number = event.operation.name.flatMap({ Int($0) }) else { return }
        guard let place = places[number].after(event, hasFailed: event.operation) else {
            return complaints.append("\(event) came to an operation that is \(places[number])")
        }
        places[number] = place
        if case .cancelled = event.kind {
            if isCancelled[number] { complaints.append("\(event) came twice") }
            isCancelled[number] = true
        }
    }

    /// Compares the state of an operation according to its events with its actual state.
    ///
    /// - Parameter waitsForRoom: Whether the operation still waits for room in its queue.
    func check(_ number: Int, _ operation: AnyTaskOperation, waitsForRoom: Bool) -> String? {
        let isRight =
            switch (places[number], operation.state) {
            case (.unknown, .waiting), (.unknown, .ready): (operation.scheduler == nil) != waitsForRoom
            // The operation ended before its addition, or was never accepted.
            case (.unknown, .finished): true
            case (.added, .waiting), (.ready, .ready): true
            // The queue is notified after the last dependency has ended.
            case (.added, .ready), (.ready, .waiting): true
            case (.executing, .executing), (.lent, .executing): true
            case (.finished(let outcome), .finished): outcome == Model.Outcome(of: operation)
            default: false
            }
        return isRight ? nil : "\(operation) is \(places[number]) by its events"
    }
}

extension EventCheck.Place {
    /// The state after an event; nil if the event is not possible in this state.
    fileprivate func after(_ event: TaskOperationEvent, hasFailed operation: AnyTaskOperation) -> Self? {
        switch (self, event.kind) {
        case (.unknown, .added): .added
        case (.added, .ready), (.ready, .ready): .ready
        case (.ready, .started(let dependencies)): dependencies.allSatisfy(\.isFinished) ? .executing : nil
        case (.executing, .lent): .lent
        case (.executing, .waited), (.lent, .waited): self
        case (.added, .withdrawn), (.ready, .withdrawn): .unknown
        case (.lent, .returned): .executing
        case (.added, .priorityChanged), (.ready, .priorityChanged), (.executing, .priorityChanged),
            (.lent, .priorityChanged), (.added, .cancelled), (.ready, .cancelled), (.executing, .cancelled),
            (.lent, .cancelled):
            self
        case (.added, .finished), (.ready, .finished), (.executing, .finished), (.lent, .finished):
            event.kind.fits(operation) ? .finished(Model.Outcome(of: operation)) : nil
        default: nil
        }
    }
}

extension TaskOperationEvent.Kind {
    /// Whether the outcome in an event is that of an operation.
    fileprivate func fits(_ operation: AnyTaskOperation) -> Bool {
        guard case .finished(let outcome) = self else { return false }
        return switch (outcome, operation.failure) {
        case (.succeeded, nil): true
        case (.cancelled, is CancellationError): operation.isCancelled
        case (.failed, .some(let error)): !(error is CancellationError && operation.isCancelled)
        default: false
        }
    }
}
