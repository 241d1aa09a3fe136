internal import TaskDump

extension ScheduleFailure {
    /// The schedule as a JSON document: its tasks, actors, steps, events and changes of the usual order. The article
    /// <doc:ExploringSchedules> describes the members. Takes time in proportion to the events. The first call for code
    /// with debug information can take seconds.
    public var json: String {
        let report = ScheduleReport(trace ?? ScheduleTrace())
        let actors = report.actors
        let numbers = Dictionary(uniqueKeysWithValues: zip(actors, 1...))
        return JSON([
            "version": JSON(1), "failure": JSON(text), "schedule": JSON(schedule), "number": JSON(place.number),
            "notes": JSON(notes.map { JSON($0) }),
            "tasks": JSON(lines: report.tasks.map(report.json)),
            "actors": JSON(lines: zip(actors, 1...).map { JSON(["number": JSON($1), "name": JSON($0.name)]) }),
            "steps": JSON(lines: report.trace.steps.map { report.json($0, numbers) }),
        ]).text + "\n"
    }
}

/// The text of a JSON value. An encoder would bring Foundation into each build of tests.
private struct JSON: ExpressibleByStringLiteral {
    let text: String

    init(_ number: some BinaryInteger) { text = "\(number)" }

    init(stringLiteral: String) { self.init(stringLiteral) }

    init(_ string: String) {
        let isPlain = string.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
        text = "\"\(isPlain ? string : string.replacingScalars(Self.escape))\""
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\0"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: nil
        }
    }

    init(_ array: [JSON]) { text = "[\(array.map(\.text).joined(separator: ","))]" }

    /// - Parameter lines: The elements of an array, each of which has a line of its own.
    init(lines: [JSON]) { text = "[\n\(lines.map(\.text).joined(separator: ",\n"))\n]" }

    /// - Parameter members: The members. Those without a value are left out.
    init(_ members: KeyValuePairs<String, JSON?>) {
        text = "{\(members.compactMap { key, value in value.map { "\"\(key)\":\($0.text)" } }.joined(separator: ","))}"
    }
}

extension ScheduleReport {
    private func number(_ task: UInt64) -> JSON? { trace.numbers[task].map { JSON($0) } }

    fileprivate func json(_ task: UInt64) -> JSON {
        let name = trace.births[task]?.name.map { JSON($0) }
        return JSON(["number": number(task), "name": name, "created": origin(of: task).map { JSON($0) }])
    }

    /// - Parameter actors: The numbers of the actors.
    fileprivate func json(_ step: ScheduleTrace.Step, _ actors: [ScheduleTrace.Actor: Int]) -> JSON {
        JSON([
            "step": JSON(step.number), "nanoseconds": JSON(step.time), "task": number(step.task),
            "changes": step.changes.isEmpty ? nil : JSON(step.changes.map(json)),
            "events": JSON(step.events.map { json($0, actors) }),
        ])
    }

    private func json(_ change: ScheduleTrace.Difference) -> JSON {
        switch change {
        case .delay(let task, let end):
            JSON(["change": "delay", "task": number(task), "until": end == .max ? nil : JSON(end)])
        case .timePasses(let now): JSON(["change": "time", "nanoseconds": JSON(now)])
        case .cancellation(let task): JSON(["change": "cancellation", "task": number(task)])
        }
    }

    private func json(_ event: ScheduleTrace.Event, _ actors: [ScheduleTrace.Actor: Int]) -> JSON {
        switch event {
        case .creates(let task): return JSON(["event": "creates", "task": number(task)])
        case .resumes(let task): return JSON(["event": "resumes", "task": number(task)])
        case .yields: return JSON(["event": "yields"])
        case .sleeps(let duration): return JSON(["event": "sleeps", "nanoseconds": JSON(duration)])
        case .switches(let task, let address, let actor):
            let function = function(at: address)
            return JSON([
                "event": actor == nil ? "leaves" : "enters", "task": number(task),
                "actor": actor.flatMap { actors[$0] }.map { JSON($0) },
                "function": function.map { JSON($0.function) }, "line": function?.place.map { JSON($0) },
            ])
        }
    }
}
