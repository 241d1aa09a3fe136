internal import TaskDump

// An encoder would bring Foundation into each build of tests.

extension ScheduleFailure {
    /// The schedule as a JSON document: its tasks, actors, steps, events and changes of the usual order. The article
    /// <doc:ExploringSchedules> describes the members. Takes time in proportion to the events. The first call for code
    /// with debug information can take seconds.
    public var json: String {
        let report = ScheduleReport(trace ?? ScheduleTrace())
        return object([
            "version": "1", "failure": text.quoted, "schedule": schedule.quoted, "number": "\(place.number)",
            "notes": list(notes.map(\.quoted)), "tasks": list(report.tasks.map(report.json), separator: "\n"),
            "actors": list(
                report.trace.actors.map { object(["number": "\($0.number)", "name": $0.name.quoted]) },
                separator: "\n"),
            "steps": list(report.trace.steps.map(report.json), separator: "\n"),
        ]) + "\n"
    }
}

extension ScheduleReport {
    private func number(_ task: UInt64) -> String? { trace.numbers[task].map { "\($0)" } }

    fileprivate func json(_ task: UInt64) -> String {
        object([
            "number": number(task), "name": trace.births[task]?.name?.quoted, "created": origin(of: task)?.quoted,
        ])
    }

    fileprivate func json(_ step: ScheduleTrace.Step) -> String {
        object([
            "step": "\(step.number)", "nanoseconds": "\(step.time)", "task": number(step.task),
            "changes": step.changes.isEmpty ? nil : list(step.changes.map(json)), "events": list(step.events.map(json)),
        ])
    }

    private func json(_ change: ScheduleTrace.Difference) -> String {
        switch change {
        case .delay(let task, let end):
            object(["change": "\"delay\"", "task": number(task), "until": end == .max ? nil : "\(end)"])
        case .timePasses(let now): object(["change": "\"time\"", "nanoseconds": "\(now)"])
        case .cancellation(let task): object(["change": "\"cancellation\"", "task": number(task)])
        }
    }

    private func json(_ event: ScheduleTrace.Event) -> String {
        switch event {
        case .creates(let task): return object(["event": "\"creates\"", "task": number(task)])
        case .resumes(let task): return object(["event": "\"resumes\"", "task": number(task)])
        case .yields: return object(["event": "\"yields\""])
        case .isInterrupted(let callers):
            let frame = symbols.frame(of: callers)
            return object([
                "event": "\"interrupted\"", "function": frame?.function.quoted, "line": frame?.place?.quoted,
            ])
        case .sleeps(let duration): return object(["event": "\"sleeps\"", "nanoseconds": "\(duration)"])
        case .switches(let task, let address, let actor):
            let function = symbols[address]
            return object([
                "event": actor == nil ? "\"leaves\"" : "\"enters\"", "task": number(task),
                "actor": actor.map { "\($0.number)" }, "function": function?.function.quoted,
                "line": function?.place?.quoted,
            ])
        }
    }
}

/// - Parameter members: The texts of the values. Members without a value are left out.
private func object(_ members: KeyValuePairs<String, String?>) -> String {
    "{\(members.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }.joined(separator: ","))}"
}

private func list(_ values: [String], separator: String = "") -> String {
    "[\(values.map { separator + $0 }.joined(separator: ","))]"
}

extension String {
    fileprivate var quoted: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) { return "\"\(self)\"" }
        let text = replacingScalars { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\0"..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: nil
            }
        }
        return "\"\(text)\""
    }
}
