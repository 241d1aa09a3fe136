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
        let chain = own.isEmpty ? [] : tasks(before: task)
        return (limits + causes(own.isEmpty ? culprits : own, lineLimit: 20, chain)).joined(separator: "\n")
    }

    /// A task, and the tasks for which it waits, also through others.
    private func tasks(before task: UInt64) -> Set<UInt64> {
        let targets = Dictionary(tasks.map { ($0.number, $0.targets) }) { first, _ in first }
        var (found, pending) = (Set([task]), [task])
        while let next = pending.popLast() {
            for case .task(let target) in targets[next] ?? [] where found.insert(target).inserted {
                pending.append(target)
            }
        }
        return found
    }

    private func text(lineLimit: Int) -> String {
        var head = "Task dump: \(count(tasks.count, "task")), \(count(threads.count, "other thread"))."
        if let limitation { head += " " + limitation }
        let overview = overview.map { [$0] } ?? []
        let causes = causes(culprits, lineLimit: lineLimit == .max ? .max : lineLimit - 1)
        return ([head] + overview + causes).joined(separator: "\n")
    }

    /// - Parameter chain: Of equal tasks, one of these is shown.
    private func causes(_ culprits: [Culprit], lineLimit: Int, _ chain: Set<UInt64> = []) -> [String] {
        var lines: [String] = []
        let entries = Dictionary(tasks.map { ($0.number, $0) }) { first, _ in first }
        for (index, culprit) in culprits.enumerated() {
            let details = details(of: culprit, entries, chain)
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
    private func details(of culprit: Culprit, _ entries: [UInt64: Entry], _ chain: Set<UInt64>) -> [String] {
        let members = culprit.tasks.compactMap { entries[$0] }
        let shown = members.first { chain.contains($0.number) } ?? members.first
        var lines: [String] = []
        if culprit.isCycle {
            lines += members.prefix(6).map { "    \($0.heading)" }
        } else if let shown {
            let others = members.count > 1 ? " and \(members.count - 1) more" : ""
            lines.append("    \(shown.heading)\(others)")
            // An inlined function has the line of the function that contains it, twice.
            let callers = shown.frames.filter { $0.owner == .program && $0.place != nil }.map(\.description)
            let distinct = zip(callers, callers.dropFirst()).filter { $0 != $1 }.map(\.1).prefix(3)
            if !distinct.isEmpty { lines.append("    called by \(distinct.joined(separator: " ← "))") }
        }
        lines += groups(of: culprit.heldUp.compactMap { entries[$0] }, chain)
        return lines
    }

    /// Equal tasks are one line. Those of the chain come first, those with code of libraries only come last.
    private func groups(of heldUp: [Entry], _ chain: Set<UInt64>) -> [String] {
        var groups: [(text: String, rank: Int, numbers: [UInt64])] = []
        var positions: [String: Int] = [:]
        for entry in heldUp {
            let isOfProgram = entry.frames.contains { $0.owner != .system }
            let text = isOfProgram ? entry.groupDescription : "of libraries"
            let rank = isOfProgram ? chain.contains(entry.number) ? 0 : 1 : 2
            if let position = positions[text] {
                groups[position].numbers.append(entry.number)
                groups[position].rank = min(groups[position].rank, rank)
            } else {
                positions[text] = groups.count
                groups.append((text, rank, [entry.number]))
            }
        }
        groups.sort { ($0.rank, $1.numbers.count) < ($1.rank, $0.numbers.count) }
        var lines = groups.prefix(4).map { group in
            let isOne = group.numbers.count == 1
            let subject = isOne ? "task \(group.numbers[0])" : "\(group.numbers.count) tasks"
            return "    held up: \(subject)\(group.rank == 2 ? " " : ", ")\(group.text)"
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
            numbers.isEmpty
                ? "waits for a group without living tasks"
                : "waits for \(numbers.count) \(numbers.count == 1 ? "child" : "children") of its group"
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
