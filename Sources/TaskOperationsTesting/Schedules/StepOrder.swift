internal import CSchedules

/// The order of the steps of each task and of each actor, as a number.
///
/// Two schedules have equal orders if they differ only in steps of different tasks on different actors. These are the
/// traces of A. Mazurkiewicz ("Trace Theory", 1986). A step outside of actors counts as one of a common actor, because
/// it may use a lock or an atomic value that the others use, too.
struct StepOrder: Sendable {
    /// The numbers of the steps that have run, in any order.
    private(set) var number: UInt64 = 0
    /// The number of the running step, with the number of jobs that it has made ready.
    private var current: UInt64 = 0
    /// The numbers of the last steps, by task and by the address of the actor.
    private var latest: [UInt64: UInt64] = [:]
    /// The numbers of the steps that made the jobs ready, by job.
    private var causes: [UInt64] = []

    /// Notes that the running step makes the next job ready.
    mutating func noteJob() {
        causes.append(current)
        current &+= 1
    }

    /// Notes that a job begins a step.
    mutating func noteStep(of job: ReadyJob, at time: Int64) {
        let actor = job.actor
        current = Self.mix(Self.mix(number(of: job), latest[actor, default: 1]), UInt64(time))
        (latest[job.task], latest[actor]) = (current, current)
        number &+= current
    }

    /// The number of a list of jobs.
    func number(of jobs: some Sequence<ReadyJob>) -> UInt64 {
        jobs.reduce(0) { Self.mix($0, number(of: $1)) }
    }

    private func number(of job: ReadyJob) -> UInt64 { Self.mix(latest[job.task, default: 2], causes[job.number]) }

    /// A number that depends on two numbers and on which of them is the first one.
    private static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        var generator = SeededGenerator(seed: one &* 31 &+ other)
        return generator.next()
    }
}

extension ReadyJob {
    /// The address of the actor in which the job runs; 0 if it runs outside of actors.
    fileprivate var actor: UInt64 {
        if isMain { return 1 }
        return UInt64(UInt(bitPattern: entry?.target.identity ?? schedulesActor(job.pointer)))
    }
}
