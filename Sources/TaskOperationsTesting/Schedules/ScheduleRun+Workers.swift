internal import CSchedules
internal import Synchronization
internal import TaskOperations

// The jobs that can be interrupted. See CSchedules.c, "Jobs that can be interrupted".

extension ScheduleRun {
    /// Performs a job until it ends or is interrupted.
    func performOnWorker(_ next: ReadyJob) {
        let worker = workers.removeValue(forKey: next.number)
        if thread.pointee.interruption == 0, thread.pointee.startedJobs == 0 { return perform(next) }
        var pause = SchedulesPause.ended
        let used = withUnsafePointer(to: next) { schedulesContinue(thread, worker, $0, &pause) }
        if used == nil { return perform(next) }
        if pause != .ended { workers[next.number] = used }
        state.withLock { state in
            if thread.pointee.unlocks > 0 {
                thread.pointee.unlocks = 0
                state.releaseBlocked()
            }
            if pause == .blocked { return state.addBlocked(next) }
            if next.isMain { state.ready.setHoldsMain(false) }
            if pause == .interrupted { state.noteInterruption(on: thread) }
            if pause != .ended { state.resume(next) }
        }
    }

    /// Lets the jobs that wait for semaphores try again, because other threads can signal these. Returns false if a job
    /// still waits after the patience.
    func resumeBlocked(_ patience: Duration) -> Bool {
        if state.withLock({ $0.blocked.isEmpty }) { return false }
        (thread.pointee.points, thread.pointee.interruption) = (0, 0)
        let isResumed = wait(patience) {
            for job in state.withLock({ exchange(&$0.blocked, with: []) }) {
                state.withLock { $0.running = job }
                performOnWorker(job)
            }
            return state.withLock { state in
                state.running = nil
                return state.blocked.isEmpty
            }
        }
        // The threads wait again before a dump looks at them.
        if !isResumed { schedulesSleep(1_000_000) }
        return isResumed
    }

    /// Lets the jobs end that were interrupted, because they may have locks.
    func endJobs() {
        thread.pointee.interruption = 0
        var count = Int.max
        while workers.count < count {
            count = workers.count
            for number in workers.keys.sorted() {
                var pause = SchedulesPause.unlocked
                while pause == .unlocked { schedulesContinue(thread, workers[number], nil, &pause) }
                if pause == .ended { workers[number] = nil }
            }
        }
    }
}

extension ScheduleRun.State {
    fileprivate mutating func noteInterruption(on thread: UnsafeMutablePointer<SchedulesThread>) {
        record.changes.append(Change(step: record.widths.count - 1, .interruption(point: Int(thread.pointee.points))))
        trace?.noteInterruption(&thread.pointee.callers.0)
    }

    fileprivate mutating func addBlocked(_ job: ReadyJob) {
        if job.isMain { ready.setHoldsMain(true) }
        blocked.append(job)
    }

    /// Lets the jobs try again that wait for locks.
    fileprivate mutating func releaseBlocked() {
        ready.setHoldsMain(false)
        for job in blocked.reversed() { resume(job) }
        blocked = []
    }

    /// Makes a job ready that has begun.
    fileprivate mutating func resume(_ job: ReadyJob) {
        var job = job
        job.rank = chooser.rank(of: job.task, isYield: false)
        ready.putBack(job)
    }
}
