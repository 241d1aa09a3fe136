internal import Foundation
internal import TaskOperations

extension Foundation.Operation {
    /// What an operation of ours depends on to start after this one is finished: what runs this one on a queue of
    /// ours, or what it stands for, or else something that ends when this one finishes.
    var counterpart: AnyTaskOperation {
        if let standIn = self as? OperationStandIn { return standIn.operation }
        return LegacyTable.runner(of: self) ?? end
    }

    /// The counterpart, where anything asked for it before.
    var knownCounterpart: AnyTaskOperation? {
        if let standIn = self as? OperationStandIn { return standIn.operation }
        return LegacyTable.runner(of: self) ?? LegacyTable.end(of: self)
    }

    /// Ends when this operation finishes, whatever runs it.
    var end: AnyTaskOperation {
        if let end = LegacyTable.end(of: self) { return end }
        let observation = EndObservation(of: self)
        let made = TaskOperation.standIn(name: "isFinished of \(title)", keeping: observation)
        let end = LegacyTable.end(of: self, orInsert: made, owner: ObjectIdentifier(observation))
        if end === made {
            // So that a cycle through this operation is seen.
            for case let dependency? in dependencies.map(\.knownCounterpart) { try? made.addDependency(dependency) }
            observation.begin(ending: made)
        }
        return end
    }
}

/// Watches an operation of Foundation for as long as something waits for its end.
private final class EndObservation: Sendable {
    private struct State: Sendable {
        var watcher: FinishWatcher?
        var made: ObjectIdentifier?
    }

    private let legacy: Foundation.Operation
    private let state = Lock(State())

    init(of legacy: Foundation.Operation) {
        self.legacy = legacy
    }

    func begin(ending end: AnyTaskOperation) {
        let watcher = FinishWatcher { [weak end] in end?.endFromOutside() }
        state.withLock { state in
            state.watcher = watcher
            state.made = ObjectIdentifier(end)
        }
        watcher.watch(legacy)
    }

    deinit {
        let (watcher, made) = state.withLock { ($0.watcher, $0.made) }
        guard let watcher, let made else { return }
        watcher.stop(watching: legacy)
        LegacyTable.removeEnd(of: legacy, madeAs: made, owner: ObjectIdentifier(self))
    }
}
