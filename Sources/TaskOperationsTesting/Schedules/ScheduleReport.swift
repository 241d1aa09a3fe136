internal import TaskDump

/// The rows of a failing schedule, and their text.
struct ScheduleReport {
    /// The place where a task runs.
    struct Place {
        var actor: ScheduleTrace.Actor?
        /// The address at which the task continues after it has entered or left an actor; nil if it has done neither.
        var address: UInt?
    }

    /// The events of one task in a step. A job that runs an actor can run several tasks.
    struct Part {
        let task: UInt64
        /// The places where the task begins the step, and where it continues afterwards.
        let start: Place
        var end: Place
        var events: [ScheduleTrace.Event] = []

        init(_ task: UInt64, at place: Place) { (self.task, start, end) = (task, place, Place(actor: place.actor)) }
    }

    enum Row {
        /// Steps of the usual order that are left out.
        case gap(Int)
        case change(ScheduleTrace.Difference)
        case part(Part, of: ScheduleTrace.Step, isFirst: Bool)

        /// The task that the row is about.
        var task: UInt64? {
            switch self {
            case .gap: nil
            case .change(let change): change.task
            case .part(let part, _, _): part.task
            }
        }
    }

    let trace: ScheduleTrace
    let symbols: Symbols
    /// The parts of each step. Each step has at least one.
    private let parts: [[Part]]

    /// The steps that are shown before and after a deviation, if a schedule has many.
    private static var context: Int { 4 }

    init(_ trace: ScheduleTrace) {
        self.trace = trace
        var addresses: Set<UInt> = []
        for birth in trace.births.values { addresses.formUnion(birth.callers) }
        for event in trace.steps.lazy.flatMap(\.events) {
            switch event {
            case .switches(_, let address, _): addresses.insert(address)
            case .isInterrupted(let callers): addresses.formUnion(callers)
            default: break
            }
        }
        symbols = Symbols(addresses)
        var places: [UInt64: Place] = [:]
        parts = trace.steps.map { Self.parts(of: $0, &places) }
    }

    /// - Parameter places: The places of the tasks.
    private static func parts(of step: ScheduleTrace.Step, _ places: inout [UInt64: Place]) -> [Part] {
        let first = firstTask(of: step)
        if let main = step.main { places[first] = Place(actor: main) }
        var parts = [Part(first, at: places[first] ?? Place())]
        for event in step.events {
            switch event {
            case .switches(let task, let address, let actor):
                if task != parts[parts.count - 1].task { parts.append(Part(task, at: places[task] ?? Place())) }
                parts[parts.count - 1].end = Place(actor: actor, address: address)
            case .yields, .sleeps: parts[parts.count - 1].end = Place()
            case .creates, .resumes, .isInterrupted: break
            }
            parts[parts.count - 1].events.append(event)
        }
        for part in parts { places[part.task] = part.end }
        return parts
    }

    /// The task that runs first in a step. A job of an actor shows its task only when the task leaves the actor.
    private static func firstTask(of step: ScheduleTrace.Step) -> UInt64 {
        if step.task >> 63 == 0 { return step.task }
        for case .switches(let task, _, _) in step.events { return task }
        return step.task
    }

    /// Whether long runs of steps of the usual order are left out.
    var isLong: Bool { trace.steps.count > 60 }

    /// The changes and the steps, without steps that have no event and continue the task of the step before.
    ///
    /// - Parameters:
    ///   - isComplete: Whether no run of steps is left out.
    ///   - showsPlaces: Whether steps without an event that begin in another actor are not left out.
    func rows(isComplete: Bool = false, showsPlaces: Bool = false) -> [Row] {
        let steps = trace.steps
        var isShown = [Bool](repeating: isComplete || !isLong, count: steps.count)
        for index in steps.indices where index < 3 || index >= steps.count - 12 { isShown[index] = true }
        for index in steps.indices where steps[index].isChanged {
            for near in steps.indices.clamped(to: index - Self.context..<index + Self.context + 1) {
                isShown[near] = true
            }
        }
        var (rows, previous): ([Row], Int) = ([], -1)
        for index in steps.indices where isShown[index] {
            if index > previous + 1 { rows.append(.gap(index - previous - 1)) }
            previous = index
            if isQuiet(index), !showsPlaces || parts[index][0].start.address == nil { continue }
            rows += steps[index].changes.map(Row.change)
            rows += parts[index].enumerated().map { .part($1, of: steps[index], isFirst: $0 == 0) }
        }
        return rows
    }

    private func isQuiet(_ index: Int) -> Bool {
        let step = trace.steps[index]
        // The last step can be the one that ends the process.
        return index > 0 && index < trace.steps.count - 1 && step.changes.isEmpty
            && parts[index - 1][0].task == parts[index][0].task
            && step.events.allSatisfy { summary(of: $0, in: step) == nil }
    }
}

// MARK: - Text

extension ScheduleReport {
    /// One line for each row.
    var lines: [String] {
        let lines = rows().map(line)
        if !trace.steps.contains(where: \.isChanged) { return lines }
        return lines + ["→ a change of the usual order; the failure needs each of them"]
    }

    private func line(_ row: Row) -> String {
        switch row {
        case .gap(let count): return "       … \(count) steps of the usual order"
        case .change(let change): return "→        \(text(change, label))"
        case .part(let part, let step, let isFirst):
            let number = "\(step.number)"
            let indent = String(repeating: " ", count: max(5 - number.count, 0))
            let text = part.events.compactMap { describe($0, in: step) }
            return (isFirst ? " \(indent)\(number)  " : "        ") + label(part.task) + ": "
                + (text.isEmpty ? "continues" : text.joined(separator: "; "))
        }
    }

    /// - Parameter label: Returns the text of a task.
    func text(_ change: ScheduleTrace.Difference, _ label: (UInt64) -> String) -> String {
        (change.task.map { label($0) + " " } ?? "") + effect(of: change)
    }

    /// The change, without its task.
    func effect(of change: ScheduleTrace.Difference) -> String {
        switch change {
        case .delay(_, .max): "waits until no other job is ready"
        case .delay(_, let end): "waits until step \(end)"
        case .cancellation: "is cancelled"
        case .timePasses(let now): "the time moves to \(Duration.nanoseconds(now))"
        }
    }

    private func label(_ task: UInt64) -> String { title(of: task) + details(of: task) }

    private func details(of task: UInt64) -> String {
        (trace.numbers[task] ?? 1) == 1 ? "" : symbols.details(of: trace.births[task])
    }

    func title(of task: UInt64) -> String {
        guard let number = trace.numbers[task] else { return task >> 63 == 0 ? "a task" : "an actor" }
        return number == 1 ? "the test" : "task \(number)"
    }

    /// The tasks, in the order of their creation.
    var tasks: [UInt64] { trace.numbers.sorted { $0.value < $1.value }.map(\.key) }

    /// The line that created a task.
    func origin(of task: UInt64) -> String? { trace.births[task].flatMap { symbols.origin(of: $0) } }

    /// The event; nil if it shows nothing.
    func summary(of event: ScheduleTrace.Event, in step: ScheduleTrace.Step) -> String? {
        switch event {
        case .creates(let task): task == step.task ? nil : "creates \(title(of: task))"
        case .resumes(let task): "resumes \(title(of: task))"
        case .yields: "yields"
        case .isInterrupted: "is interrupted"
        case .sleeps(let nanoseconds): "a sleep of \(Duration.nanoseconds(nanoseconds)) begins"
        case .switches(_, _, let actor): actor.map { "enters \($0.type)" } ?? "leaves its actor"
        }
    }

    private func describe(_ event: ScheduleTrace.Event, in step: ScheduleTrace.Step) -> String? {
        guard let summary = summary(of: event, in: step) else { return nil }
        switch event {
        case .creates(let task), .resumes(let task): return summary + details(of: task)
        case .switches(_, let address, _):
            return summary + (symbols[address].map { " in " + $0.description } ?? "")
        case .isInterrupted(let callers):
            return summary + (symbols.frame(of: callers).map { " in " + $0.description } ?? "")
        default: return summary
        }
    }
}

/// The job that a schedule runs.
struct RunningJob: Sendable, CustomStringConvertible {
    /// Whether the job belongs to the body, not to another task.
    let isFirstTask: Bool
    let birth: TaskBirth?
    /// The address of the function with which the job began; 0 if it is unknown.
    let function: UInt

    /// The task and the function. The first call for code with debug information can take seconds.
    var description: String {
        let symbols = Symbols(Set((birth?.callers ?? []) + [function]))
        let task = isFirstTask ? "the test" : "a task of the test" + symbols.details(of: birth)
        // Functions without a line are of the compiler or of the runtime.
        let symbol = symbols[function].flatMap { $0.place == nil ? nil : $0 }
        return task + (symbol.map { ", which began in \($0)," } ?? "")
    }
}

extension Symbols {
    /// The innermost function of the program; nil if none is known.
    func frame(of callers: [UInt]) -> TaskDump.Frame? {
        callers.lazy.compactMap { self[$0] }.first { $0.owner == .program && $0.place != nil }
    }

    /// The line that created a task.
    fileprivate func origin(of birth: TaskBirth) -> String? {
        frame(of: birth.callers)?.place
    }

    /// The name of a task, and the line that created it.
    func details(of birth: TaskBirth?) -> String {
        let name = birth?.name.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
        return (name.map { " “\($0)”" } ?? "") + (birth.flatMap(origin).map { " (\($0))" } ?? "")
    }
}
