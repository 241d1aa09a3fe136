import Synchronization
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting

/// Records the events of an observer, and finds errors in their order.
final class EventJournal: TaskOperationObserver {
    private let recorder = Recorder<TaskOperationEvent>()
    private let isCalled = Atomic(false)
    private let overlaps = Atomic(0)
    private let react: @Sendable (TaskOperationEvent) -> Void

    /// - Parameter react: Called for each event.
    init(_ react: @escaping @Sendable (TaskOperationEvent) -> Void = { _ in }) {
        self.react = react
    }

    func operationChanged(_ event: TaskOperationEvent) {
        if isCalled.exchange(true, ordering: .sequentiallyConsistent) { overlaps.add(1, ordering: .relaxed) }
        recorder.record(event)
        react(event)
        isCalled.store(false, ordering: .sequentiallyConsistent)
    }

    var events: [TaskOperationEvent] { recorder.events }

    var finishedCount: Int {
        events.count { if case .finished = $0.kind { true } else { false } }
    }

    /// Returns the events of one operation as text.
    func story(of operation: AnyTaskOperation) -> [String] {
        events.filter { $0.operation === operation }.map { "\($0.kind)" }
    }

    /// Returns the errors in the events of each queue and of each operation. For an observer of one queue, also reports
    /// if two threads called it at once.
    func faults(ofOneQueue: Bool = true) -> [String] {
        var faults: [String] = []
        if ofOneQueue, overlaps.load(ordering: .relaxed) > 0 { faults.append("it was called by two threads at once") }
        for (queue, events) in Dictionary(grouping: events, by: \.queue) {
            let new = events.filter { !$0.isReplayed }
            let first = new.first?.number ?? 0
            for (index, event) in new.enumerated() where event.number != first + UInt64(index) {
                faults.append("\(event) comes in place \(index) of \(queue), from \(first)")
            }
            for pair in zip(new, new.dropFirst()) where pair.0.instant > pair.1.instant {
                faults.append("\(pair.1) was before \(pair.0)")
            }
            for (_, story) in Dictionary(grouping: events, by: \.operationNumber) { faults += Self.faults(of: story) }
        }
        return faults
    }

    /// Returns the errors in the events of one operation.
    private static func faults(of story: [TaskOperationEvent]) -> [String] {
        var place = Place.unknown
        for event in story {
            guard let next = place.after(event.kind) else {
                return ["\(event) comes after \(place): \(story.map { "\($0.kind)" })"]
            }
            place = next
        }
        return []
    }

    private enum Place {
        case unknown, added, ready, executing, lent, finished

        func after(_ kind: TaskOperationEvent.Kind) -> Place? {
            switch (self, kind) {
            case (.unknown, .added): .added
            case (.added, .ready), (.ready, .ready): .ready
            case (.ready, .started): .executing
            case (.executing, .lent): .lent
            case (.executing, .waited), (.lent, .waited): self
            case (.added, .withdrawn), (.ready, .withdrawn): .unknown
            case (.lent, .returned): .executing
            case (.added, .finished), (.ready, .finished), (.executing, .finished), (.lent, .finished): .finished
            case (.executing, .attempt), (.lent, .attempt): self
            case (.added, .priorityChanged), (.ready, .priorityChanged), (.executing, .priorityChanged),
                (.lent, .priorityChanged):
                self
            case (.added, .cancelled), (.ready, .cancelled), (.executing, .cancelled), (.lent, .cancelled): self
            default: nil
            }
        }
    }
}
