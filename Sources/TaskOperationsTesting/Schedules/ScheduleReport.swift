internal import TaskDump

/// The lines of a failing schedule.
struct ScheduleReport {
    private let trace: ScheduleTrace
    private let symbols: Symbols

    /// The steps that are printed before and after a deviation, if a schedule has many.
    private static var context: Int { 4 }

    init(_ trace: ScheduleTrace) {
        self.trace = trace
        var addresses: Set<UInt> = []
        for birth in trace.births.values { addresses.formUnion(birth.callers) }
        for case .switches(_, let address, _) in trace.steps.flatMap(\.events) { addresses.insert(address) }
        symbols = Symbols(addresses)
    }

    /// One line for each step. Long runs of steps of the usual order are left out, and steps without an event in which
    /// the task of the step before continues.
    var lines: [String] {
        let changes = trace.steps.indices.filter { !trace.steps[$0].changes.isEmpty }
        let shown = trace.steps.indices.filter { index in
            trace.steps.count <= 60 || index < 3 || index >= trace.steps.count - 12
                || changes.contains { abs($0 - index) <= Self.context }
        }
        var lines: [String] = []
        for (position, index) in shown.enumerated() {
            if position > 0, isQuiet(index) { continue }
            if position > 0, shown[position - 1] != index - 1 {
                lines.append("       … \(index - shown[position - 1] - 1) steps of the usual order")
            }
            lines += trace.steps[index].changes.map(line)
            lines.append(line(trace.steps[index]))
        }
        if !changes.isEmpty { lines.append("→ a change of the usual order; the failure needs each of them") }
        return lines
    }

    private func isQuiet(_ index: Int) -> Bool {
        let step = trace.steps[index]
        return index > 0 && step.changes.isEmpty && firstTask(of: trace.steps[index - 1]) == firstTask(of: step)
            && step.events.allSatisfy { describe($0, in: step) == nil }
    }

    private func line(_ change: ScheduleTrace.Difference) -> String {
        switch change {
        case .delay(let task, .max): "→        \(label(task)) waits until no other job is ready"
        case .delay(let task, let end): "→        \(label(task)) waits until step \(end)"
        case .cancellation(let task): "→        \(label(task)) is cancelled"
        case .timePasses(let now): "→        the time moves to \(Duration.nanoseconds(now))"
        }
    }

    /// The line of a step. A job that runs an actor can run several tasks, each on a line of its own.
    private func line(_ step: ScheduleTrace.Step) -> String {
        var parts: [(task: UInt64, text: [String])] = [(firstTask(of: step), [])]
        for event in step.events {
            if case .switches(let task, _, _) = event, task != parts[parts.count - 1].task { parts.append((task, [])) }
            if let text = describe(event, in: step) { parts[parts.count - 1].text.append(text) }
        }
        let number = "\(step.number)"
        let indent = String(repeating: " ", count: max(5 - number.count, 0))
        return parts.enumerated().map { index, part in
            let start = index == 0 ? " \(indent)\(number)  " : "        "
            let text = part.text.isEmpty ? "continues" : part.text.joined(separator: "; ")
            return "\(start)\(label(part.task)): \(text)"
        }.joined(separator: "\n")
    }

    /// The task that runs first in a step. A job of an actor shows its task only when the task leaves the actor.
    private func firstTask(of step: ScheduleTrace.Step) -> UInt64 {
        if step.task >> 63 == 0 { return step.task }
        for case .switches(let task, _, _) in step.events { return task }
        return step.task
    }

    private func label(_ task: UInt64) -> String {
        guard let number = trace.numbers[task] else { return task >> 63 == 0 ? "a task" : "an actor" }
        return number == 1 ? "the test" : "task \(number)" + symbols.details(of: trace.births[task])
    }

    private func describe(_ event: ScheduleTrace.Event, in step: ScheduleTrace.Step) -> String? {
        switch event {
        case .creates(let task): return task == step.task ? nil : "creates \(label(task))"
        case .resumes(let task): return "resumes \(label(task))"
        case .yields: return "yields"
        case .sleeps(let nanoseconds): return "a sleep of \(Duration.nanoseconds(nanoseconds)) begins"
        case .switches(_, let address, let actor):
            let place = symbols[address].map { " in " + $0.description } ?? ""
            return (actor.map { "enters \($0)" } ?? "leaves its actor") + place
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
    /// The name of a task, and the line that created it.
    func details(of birth: TaskBirth?) -> String {
        let place = birth?.callers.lazy.compactMap { self[$0] }.first { $0.owner == .program && $0.place != nil }?.place
        let name = birth?.name.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
        return (name.map { " “\($0)”" } ?? "") + (place.map { " (\($0))" } ?? "")
    }
}
