// What workers take without entering: see `ReadyRun`.

extension Scheduler {
    /// Offers what starts next, as far as that is certain.
    ///
    /// Not where every event is told to someone.
    func openRun(_ storage: inout Storage) {
        if storage.state.readyCount < ReadyRun.Notes.shortest || storage.observer != nil { return }
        guard let (level, entries) = storage.state.upcoming(storage.run.length),
            entries.count >= ReadyRun.Notes.shortest
        else { return }
        run.offer(entries, level: level, &storage.run) { storage.state.records[$0].element }
    }

    /// Closes the run that is open, and does to the state what workers did meanwhile.
    ///
    /// - Parameter ended: Gets what the state lets go of, to be freed after the lock is left.
    func closeRun(_ storage: inout Storage, _ ended: inout [AnyTaskOperation]) {
        guard let level = storage.run.level else { return }
        ended.reserveCapacity(ended.count + storage.run.count)
        run.close(&storage.run) { ended.append(storage.state.handOver($0, at: level)) }
    }

    /// Takes the next operation in place of the one that ran, which has ended and has no links. Returns false where
    /// the worker has to enter.
    func takeNext(_ turn: inout Turn, on worker: Worker) -> Bool {
        guard let next = run.take(inPlaceOf: turn.slot, level: worker.level, from: &turn.position) else { return false }
        if next.isHalfway { prolongRun() }
        return start(next.operation, at: next.slot, &turn, on: worker)
    }

    /// Does to the state what workers did, and offers more, while others go on taking.
    ///
    /// This is no event: what was certain to come is so still, and mail can wait.
    private func prolongRun() {
        var ended: [AnyTaskOperation] = []
        storage.withLock { storage in
            guard let level = storage.run.level else { return }
            ended.reserveCapacity(storage.run.count)
            run.follow(&storage.run) { ended.append(storage.state.handOver($0, at: level)) }
            guard let upcoming = storage.state.upcoming(storage.run.length), upcoming.level == level else { return }
            run.offer(upcoming.entries.dropFirst(storage.run.count), level: level, &storage.run) {
                storage.state.records[$0].element
            }
        }
    }
}
