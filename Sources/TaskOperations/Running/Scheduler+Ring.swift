// What workers take without entering: see `ReadyRing`.

extension Scheduler {
    /// Offers what starts next, as far as that is certain.
    func openRun() {
        if state.ready.count < ReadyRing.Notes.shortest { return }
        guard let (level, entries) = state.upcoming(runNotes.length), entries.count >= ReadyRing.Notes.shortest else {
            return
        }
        run.offer(entries, level: level, &runNotes) { state.records[$0].element }
    }

    /// Closes the run that is open, and does to the state what workers did meanwhile.
    ///
    /// - Parameter ended: Gets what the state lets go of, to be freed after the lock is left.
    func closeRun(_ ended: inout [AnyTaskOperation]) {
        guard let level = runNotes.level else { return }
        ended.reserveCapacity(ended.count + runNotes.count)
        run.close(&runNotes) { ended.append(state.handOver($0, at: level)) }
    }

    /// Does to the state what workers did, and offers more, while others go on taking.
    ///
    /// This is no event: what was certain to come is so still, and mail can wait.
    nonisolated func prolongRun() {
        var ended: [AnyTaskOperation] = []
        look(with: &ended) { scheduler, ended in scheduler.prolongRun(&ended) }
    }

    private func prolongRun(_ ended: inout [AnyTaskOperation]) {
        guard let level = runNotes.level else { return }
        ended.reserveCapacity(runNotes.count)
        run.follow(&runNotes) { ended.append(state.handOver($0, at: level)) }
        guard let upcoming = state.upcoming(runNotes.length), upcoming.level == level else { return }
        run.offer(upcoming.entries.dropFirst(runNotes.count), level: level, &runNotes) { state.records[$0].element }
    }
}
