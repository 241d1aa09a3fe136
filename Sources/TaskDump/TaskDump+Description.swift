extension TaskDump: CustomStringConvertible {
    /// The causes, in at most 24 lines.
    public var description: String { text(lineLimit: 24) }

    /// The causes, each task with its functions, and each thread.
    public var fullDescription: String {
        let all = tasks.map { task in
            ([task.heading + ": " + task.waitDescription] + task.frames.map { "    \($0)" }).joined(separator: "\n")
        }
        let stacks = threads.map { thread in
            let role = thread.task.map { ", which runs task \($0)" } ?? ""
            let state = thread.blockedIn.map { ": blocked in \($0.onOneLine)" } ?? ""
            return (["thread \(thread.number)\(role)\(state)"] + thread.frames.map { "    \($0)" }).joined(
                separator: "\n")
        }
        return ([text(lineLimit: .max)] + all + stacks).joined(separator: "\n\n") + "\n"
    }

    /// The causes, without the line that counts the tasks.
    package var causes: String { causes(culprits, lineLimit: 20).joined(separator: "\n") }

    /// The causes for which a task waits; all causes if that task waits for none.
    package func causes(of task: UInt64) -> String {
        let own = culprits.filter { $0.tasks.contains(task) || $0.heldUp.contains(task) }
        let limits = [limitation, overview].compactMap(\.self)
        return (limits + causes(own.isEmpty ? culprits : own, lineLimit: 20)).joined(separator: "\n")
    }

    private func text(lineLimit: Int) -> String {
        var head = "Task dump: \(count(tasks.count, "task")), \(count(threads.count, "other thread"))."
        if let limitation { head += " " + limitation }
        let overview = overview.map { [$0] } ?? []
        let causes = causes(culprits, lineLimit: lineLimit == .max ? .max : lineLimit - 1)
        return ([head] + overview + causes).joined(separator: "\n")
    }

    private func causes(_ culprits: [Culprit], lineLimit: Int) -> [String] {
        var lines: [String] = []
        let entries = Dictionary(tasks.map { ($0.number, $0) }) { first, _ in first }
        for (index, culprit) in culprits.enumerated() {
            let details = details(of: culprit, entries)
            // The last line may be needed for the number of the others.
            let isLast = index == culprits.count - 1
            if lines.count + 1 + details.count + (isLast ? 0 : 1) > lineLimit, index > 0 {
                lines.append("… and \(count(culprits.count - index, "other cause")); `fullDescription` has all.")
                break
            }
            lines.append(culprit.description)
            lines += details
        }
        if culprits.isEmpty, limitation == nil { lines.append("No task waits.") }
        return lines
    }

    /// The tasks of a culprit and the tasks that it holds up. Equal tasks are one line.
    private func details(of culprit: Culprit, _ entries: [UInt64: Entry]) -> [String] {
        let members = culprit.tasks.compactMap { entries[$0] }
        var lines: [String] = []
        if culprit.isCycle {
            lines += members.prefix(6).map { "    \($0.heading)" }
        } else if let first = members.first {
            let others = members.count > 1 ? " and \(members.count - 1) more" : ""
            lines.append("    \(first.heading)\(others)")
            let callers = first.frames.filter { $0.owner == .program && $0.place != nil }.dropFirst().prefix(3)
            if !callers.isEmpty { lines.append("    called by \(callers.map(\.description).joined(separator: " ← "))") }
        }
        var groups: [(text: String, numbers: [UInt64])] = []
        var positions: [String: Int] = [:]
        for entry in culprit.heldUp.compactMap({ entries[$0] }) {
            let text = entry.groupDescription
            if let position = positions[text] {
                groups[position].numbers.append(entry.number)
            } else {
                positions[text] = groups.count
                groups.append((text, [entry.number]))
            }
        }
        groups.sort { $0.numbers.count > $1.numbers.count }
        for group in groups.prefix(4) {
            let isOne = group.numbers.count == 1
            lines.append(
                "    held up: \(isOne ? "task \(group.numbers[0])" : "\(group.numbers.count) tasks"), \(group.text)")
        }
        if groups.count > 4 {
            lines.append("    … and \(groups.dropFirst(4).reduce(0) { $0 + $1.numbers.count }) more")
        }
        return lines
    }

    private func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension TaskDump.Entry {
    /// The innermost function of the program.
    var place: String {
        guard let frame = frames.ofProgram else { return "code without a name" }
        // The first instructions of a closure have no line. The closure is where the task was created.
        let creator = frame.place == nil ? creators.first { $0.function == frame.function } : nil
        return "\(creator ?? frame)"
    }

    /// The number, the name, and the code that created the task.
    var heading: String {
        let name = name.map { " “\($0.onOneLine)”" } ?? ""
        let isMain = frames.contains { $0.function.hasPrefix("async_Main") }
        let creator =
            isMain
            ? nil : creators.first { $0.owner == .program && $0.place != nil } ?? frames.last { $0.owner == .program }
        let marks = isCancelled ? ", cancelled" : ""
        return "task \(number)\(name)\(isMain ? ", the main task" : "")\(marks)"
            + (creator.map { ", created in \($0)" } ?? "")
    }

    /// The function, and what it waits for.
    var waitDescription: String { "\(place) \(reason)" }

    /// The same for all tasks that wait in one place for things of one kind. Equal tasks are one cause.
    var groupDescription: String {
        switch wait {
        case .task: "\(place) waits for another task"
        case .children: "\(place) waits for children of its group"
        case .sleep: "\(place) sleeps"
        case .operation: "\(place) waits for an operation or a permit"
        default: waitDescription
        }
    }

    private var reason: String {
        switch wait {
        case .task(let number): "waits for task \(number)"
        case .children(let numbers):
            numbers.isEmpty ? "waits for a group without living tasks" : "waits for \(numbers.count) tasks of its group"
        case .actor(let type, _, let holder):
            "waits for the actor \(type.onOneLine)"
                + (holder.map { ", on which task \($0) runs" } ?? ", on which no task runs")
        case .continuation: "waits for a continuation that no code has resumed"
        case .sleep(let remaining): "sleeps" + (remaining.map { ", for \($0.inSeconds) s more" } ?? "")
        case .element: "waits for the next element of a sequence"
        case .operation(let text): "waits \(text.onOneLine)"
        case .executor: "can continue, and waits for a thread"
        case .thread(let call): "blocks its thread in \(call.onOneLine)"
        case .nothing: "computes"
        }
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = Int64((self / .milliseconds(100)).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
