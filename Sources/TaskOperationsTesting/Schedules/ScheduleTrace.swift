/// The facts that are known when a task is created.
struct TaskBirth: Sendable {
    /// The task; 0 if it is a child. The task may have ended.
    let address: UInt
    let name: String?
    /// The return addresses, up to a 0. An array would take 2 % of the time of a schedule.
    private let returns: SIMD8<UInt>

    init(_ task: UnsafeRawPointer?, name: UnsafePointer<CChar>?, callers: UnsafePointer<UnsafeRawPointer?>) {
        address = UInt(bitPattern: task)
        self.name = name.map { String(cString: $0) }
        // `callers` points to `taskDumpCallerCount` addresses, which are 8.
        returns = UnsafeRawPointer(callers).loadUnaligned(as: SIMD8<UInt>.self)
    }

    /// The addresses of the calls that created the task, innermost first. A call precedes its return address, which can
    /// belong to the next line.
    var callers: [UInt] { returns.indices.map { returns[$0] }.prefix { $0 != 0 }.map { $0 - 1 } }
}

/// The events of one schedule.
struct ScheduleTrace: Sendable {
    /// An actor. An actor that was released can have the address of a later one of its type: the two count as one.
    struct Actor: Sendable {
        let type: String
        /// The type, with a number if it is not the first actor of the type.
        let name: String
        /// The position in the order in which tasks entered the actors, from 1.
        let number: Int
    }

    enum Event: Sendable {
        /// A task was created, by number.
        case creates(UInt64)
        /// A task enters an actor, or leaves one if the actor is nil. The task continues at an address, or begins if that
        /// is 0.
        case switches(UInt64, at: UInt, to: Actor?)
        case sleeps(nanoseconds: Int64)
        case yields
        /// A task was made ready, by number.
        case resumes(UInt64)
        /// The job was interrupted. The addresses of the calls are innermost first.
        case isInterrupted(at: [UInt])
    }

    struct Step: Sendable {
        let number: Int
        let task: UInt64
        /// The actor of a job of the main actor; nil for other jobs.
        let main: Actor?
        /// The virtual time, in nanoseconds.
        let time: Int64
        /// The differences from the usual order that precede the step.
        var changes: [Difference]
        var events: [Event] = []

        /// Whether the step differs from the usual order.
        var isChanged: Bool {
            !changes.isEmpty || events.contains { if case .isInterrupted = $0 { true } else { false } }
        }
    }

    /// A difference from the usual order.
    enum Difference: Sendable {
        case delay(task: UInt64, until: Int)
        case timePasses(to: Int64)
        case cancellation(task: UInt64)

        var task: UInt64? {
            switch self {
            case .delay(let task, _), .cancellation(let task): task
            case .timePasses: nil
            }
        }
    }

    private(set) var steps: [Step] = []
    /// The changes that precede the next step.
    private var changes: [Difference] = []
    /// The positions of the tasks in the order of their creation, from 1.
    private(set) var numbers: [UInt64: Int] = [:]
    /// The actors in the order in which tasks entered them.
    private(set) var actors: [Actor] = []
    /// The positions of the actors, by their addresses and types.
    private var actorIndices: [String: Int] = [:]
    private var actorCounts: [String: Int] = [:]
    /// The tasks whose creation was seen.
    var births: [UInt64: TaskBirth] = [:]

    mutating func note(_ change: Difference) { changes.append(change) }

    /// Notes a cancellation that precedes the last step.
    mutating func noteCancellation(of task: UInt64) {
        if !steps.isEmpty { steps[steps.count - 1].changes.append(.cancellation(task: task)) }
    }

    mutating func noteStep(_ number: Int, _ task: UInt64, isMain: Bool, at time: Int64) {
        let main = isMain ? actor("MainActor", nil) : nil
        steps.append(Step(number: number, task: task, main: main, time: time, changes: changes))
        changes = []
    }

    /// - Parameter task: The number of the task for which the job runs.
    mutating func note(_ new: NewJob, _ task: UInt64) {
        if new.delay > 0 { return append(.sleeps(nanoseconds: new.delay)) }
        if new.isYield { return append(.yields) }
        // The end of a sleep, and the jobs of actors, show nothing.
        if new.number == 0 || new.number != task { return }
        if numbers[task] != nil {
            if new.switching == 0, task != new.caller, task != steps.last?.task { append(.resumes(task)) }
        } else {
            noteCreation(of: task)
        }
    }

    /// - Parameter callers: Return addresses, up to a null.
    mutating func noteInterruption(_ callers: UnsafePointer<UnsafeRawPointer?>) {
        append(.isInterrupted(at: TaskBirth(nil, name: nil, callers: callers).callers))
    }

    /// Notes a new task, unless it was noted before.
    mutating func noteCreation(of task: UInt64) {
        if numbers[task] != nil { return }
        numbers[task] = numbers.count + 1
        append(.creates(task))
    }

    /// - Parameter type: The type of the actor that the task enters; nil if the task leaves one.
    mutating func noteSwitch(
        of task: UInt64, _ resume: UnsafeRawPointer?, to type: String?, _ object: UnsafeRawPointer?
    ) {
        append(.switches(task, at: UInt(bitPattern: resume), to: type.map { actor($0, object) }))
    }

    private mutating func actor(_ type: String, _ object: UnsafeRawPointer?) -> Actor {
        let key = "\(UInt(bitPattern: object)) \(type)"
        if let index = actorIndices[key] { return actors[index] }
        actorIndices[key] = actors.count
        let count = actorCounts[type, default: 0] + 1
        actorCounts[type] = count
        actors.append(Actor(type: type, name: count == 1 ? type : "\(type) \(count)", number: actors.count + 1))
        return actors[actors.count - 1]
    }

    private mutating func append(_ event: Event) {
        if !steps.isEmpty { steps[steps.count - 1].events.append(event) }
    }
}
