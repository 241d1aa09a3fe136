/// The tasks that begin on an actor, and the later arrivals on it. The first one is ready.
struct Arrivals: Sendable {
    private(set) var jobs: ArraySlice<ReadyJob> = []
    /// The highest priority of the tasks that begin.
    private var priority: UInt8 = 0

    var isEmpty: Bool { jobs.isEmpty }

    /// Whether a job waits for others.
    func holds(_ job: ReadyJob) -> Bool { job.begins || job.job.priority.rawValue <= priority }

    /// Adds a job. Returns true if it is ready.
    mutating func add(_ job: ReadyJob) -> Bool {
        if job.begins { priority = max(priority, job.job.priority.rawValue) }
        jobs.append(job)
        return jobs.count == 1
    }

    /// Removes the first job, which begins, and returns the next ones that are ready: up to the next one that begins,
    /// which stays the first one.
    mutating func removeFirst() -> [ReadyJob] {
        jobs.removeFirst()
        var ready: [ReadyJob] = []
        while let first = jobs.first {
            ready.append(first)
            if first.begins { break }
            jobs.removeFirst()
        }
        return ready
    }
}

/// The ready jobs that wait for later steps.
struct DelayedJobs: Sendable {
    /// The jobs, by decreasing ends; of equal ends, the job that was added first is the last one.
    private(set) var jobs: [(job: ReadyJob, end: Int)] = []
    /// The end of the delay of the last job of the main actor; nil if none waits.
    private(set) var mainEnd: Int?

    /// Stored, because a build without optimization would copy the jobs to count them.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }

    mutating func add(_ job: ReadyJob, until end: Int) {
        var end = end
        if job.isMain {
            end = max(end, mainEnd ?? 0)
            mainEnd = end
        }
        count += 1
        let index = jobs.lastIndex { $0.end > end }.map { $0 + 1 } ?? 0
        jobs.insert((job, end), at: index)
    }

    mutating func removeFirst() -> ReadyJob {
        count -= 1
        let job = jobs.removeLast().job
        if job.isMain, !jobs.contains(where: { $0.job.isMain }) { mainEnd = nil }
        return job
    }

    /// Removes and returns the jobs that wait until a step, or an earlier one.
    mutating func remove(until step: Int) -> [ReadyJob] {
        var due: [ReadyJob] = []
        while let last = jobs.last, last.end <= step { due.append(removeFirst()) }
        return due
    }
}

/// The jobs that follow after a time.
struct Timers: Sendable {
    private struct Timer: Sendable {
        let deadline: Int64
        let job: ReadyJob
    }

    /// The virtual time, in nanoseconds.
    private(set) var now: Int64 = 0
    /// The time that passes next for a task that reads a clock in a loop, in nanoseconds.
    private var pause: Int64 = 1_000_000
    /// The latest deadline is the first one.
    private var timers: [Timer] = []

    var isEmpty: Bool { timers.count == 0 }
    var jobs: [ReadyJob] { timers.map(\.job) }

    mutating func add(_ job: ReadyJob, after delay: Int64) {
        // Sums do not overflow, not even with the time of a clock of the system.
        let deadline = min(now + min(delay, .max / 4), .max / 2)
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        timers.insert(Timer(deadline: deadline, job: job), at: low)
    }

    /// Lets a time pass without a deadline: a millisecond, and then twice as much each time.
    mutating func pass() {
        now = min(now + pause, .max / 4)
        pause = min(pause * 2, .max / 4)
    }

    /// Advances the time to the next deadline, and removes and returns its jobs, in the order of their addition.
    mutating func advance() -> [ReadyJob] {
        guard let last = timers.last else { return [] }
        now = max(now, last.deadline)
        var jobs: [ReadyJob] = []
        while let timer = timers.last, timer.deadline == last.deadline {
            jobs.append(timer.job)
            timers.removeLast()
        }
        return jobs
    }
}
