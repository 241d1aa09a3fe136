import TaskOperations
import TaskOperationsTesting

/// Keeps the events that it receives.
final class EventJournal: TaskOperationObserver {
    private let recorder = Recorder<TaskOperationEvent>()

    var events: [TaskOperationEvent] { recorder.events }

    var finishedCount: Int {
        events.count { if case .finished = $0.kind { true } else { false } }
    }

    func operationChanged(_ event: TaskOperationEvent) { recorder.record(event) }
}
