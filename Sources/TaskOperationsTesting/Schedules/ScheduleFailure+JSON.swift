internal import TaskDump

extension ScheduleFailure {
    /// The schedule as a JSON document: its tasks, actors, steps, events and changes of the usual order. The article
    /// <doc:ExploringSchedules> describes the members. Takes time in proportion to the events. The first call for code
    /// with debug information can take seconds.
    public var json: String {
        let report = ScheduleReport(trace ?? ScheduleTrace())
        let names = report.actors
        let actors = Dictionary(uniqueKeysWithValues: zip(names, 1...))
        let steps = report.trace.steps.map { JSON($0, report, actors) }
        return JSON([
            "version": JSON(1), "failure": JSON(text), "schedule": JSON(schedule), "number": JSON(place.number),
            "notes": JSON(notes.map { JSON($0) }),
            "tasks": JSON(report.tasks.map { JSON(task: $0, report) }, isOnLines: true),
            "actors": JSON(zip(names, 1...).map { JSON(actor: $0, $1) }, isOnLines: true),
            "steps": JSON(steps, isOnLines: true),
        ]).text + "\n"
    }
}

/// The text of a JSON value. An encoder would bring Foundation into each build of tests.
private struct JSON {
    let text: String

    init(_ number: some BinaryInteger) { text = "\(number)" }

    init(_ string: String) {
        text =
            "\""
            + string.replacingScalars { scalar in
                switch scalar {
                case "\"", "\\": "\\\(scalar)"
                case "\n": "\\n"
                case "\0"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
                default: nil
                }
            } + "\""
    }

    /// - Parameter isOnLines: Whether each value has a line of its own.
    init(_ array: [JSON], isOnLines: Bool = false) {
        let separator = isOnLines ? "\n" : ""
        text = "[" + array.map { separator + $0.text }.joined(separator: ",") + separator + "]"
    }

    /// - Parameter members: The members. Those without a value are left out.
    init(_ members: KeyValuePairs<String, JSON?>) {
        let members = members.compactMap { key, value in value.map { "\"\(key)\":\($0.text)" } }
        text = "{" + members.joined(separator: ",") + "}"
    }
}

// MARK: - The parts of a schedule

extension JSON {
    fileprivate init(task: UInt64, _ report: ScheduleReport) {
        self.init([
            "number": report.trace.numbers[task].map { JSON($0) },
            "name": report.trace.births[task]?.name.map { JSON($0) },
            "created": report.origin(of: task).map { JSON($0) },
        ])
    }

    fileprivate init(actor: ScheduleTrace.Actor, _ number: Int) {
        self.init(["number": JSON(number), "name": JSON(actor.name)])
    }

    fileprivate init(
        _ step: ScheduleTrace.Step, _ report: ScheduleReport, _ actors: [ScheduleTrace.Actor: Int]
    ) {
        let changes = step.changes.map { JSON($0, report) }
        self.init([
            "step": JSON(step.number), "nanoseconds": JSON(step.time),
            "task": report.trace.numbers[step.task].map { JSON($0) },
            "changes": changes.isEmpty ? nil : JSON(changes),
            "events": JSON(step.events.map { JSON($0, report, actors) }),
        ])
    }

    private init(_ change: ScheduleTrace.Difference, _ report: ScheduleReport) {
        let number = { (task: UInt64) in report.trace.numbers[task].map { JSON($0) } }
        switch change {
        case .delay(let task, let end):
            self.init([
                "change": JSON("delay"), "task": number(task), "until": end == .max ? nil : JSON(end),
            ])
        case .timePasses(let now): self.init(["change": JSON("time"), "nanoseconds": JSON(now)])
        case .cancellation(let task): self.init(["change": JSON("cancellation"), "task": number(task)])
        }
    }

    private init(
        _ event: ScheduleTrace.Event, _ report: ScheduleReport, _ actors: [ScheduleTrace.Actor: Int]
    ) {
        let number = { (task: UInt64) in report.trace.numbers[task].map { JSON($0) } }
        switch event {
        case .creates(let task): self.init(["event": JSON("creates"), "task": number(task)])
        case .resumes(let task): self.init(["event": JSON("resumes"), "task": number(task)])
        case .yields: self.init(["event": JSON("yields")])
        case .sleeps(let duration): self.init(["event": JSON("sleeps"), "nanoseconds": JSON(duration)])
        case .switches(let task, let address, let actor):
            let function = report.function(at: address)
            self.init([
                "event": JSON(actor == nil ? "leaves" : "enters"), "task": number(task),
                "actor": actor.flatMap { actors[$0] }.map { JSON($0) },
                "function": function.map { JSON($0.function) }, "line": function?.place.map { JSON($0) },
            ])
        }
    }
}
