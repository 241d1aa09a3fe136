internal import TaskDump

extension ScheduleFailure {
    /// A picture of the schedule, as one page that needs no script, no network and no other file. Each task has a column,
    /// each step a row, and each actor a colour. A long schedule has a second picture with all steps, unless there are
    /// more than 10,000. Takes time in proportion to the events. The first call for code with debug information can take
    /// seconds.
    public var html: String { SchedulePage(self).text }
}

private struct SchedulePage {
    private let failure: ScheduleFailure
    private let report: ScheduleReport
    /// The names of the actors. Those of one type have numbers.
    private let actors: [(actor: ScheduleTrace.Actor, name: String)]

    init(_ failure: ScheduleFailure) {
        self.failure = failure
        report = ScheduleReport(failure.trace ?? ScheduleTrace())
        var counts: [String: Int] = [:]
        actors = report.actors.map { actor in
            let count = counts[actor.name, default: 0] + 1
            counts[actor.name] = count
            return (actor, actor.name.onPage + (count == 1 ? "" : " \(count)"))
        }
    }

    var text: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>A failing schedule</title>
        <style>\(Self.style + colours)</style>
        <h1>A failing schedule</h1>
        <pre>\(failure.text.split(separator: "\n").map { String($0).escapedForMarkup }.joined(separator: "\n"))</pre>
        \(introduction)
        \(grid(isComplete: false))
        \(report.isLong && report.trace.steps.count <= 10_000 ? allSteps : "")
        <ul>\(failure.notes.map { "<li>\($0.escapedForMarkup)</li>" }.joined())</ul>
        </html>

        """
    }

    private var introduction: String {
        let changes = report.trace.steps.flatMap { step in
            step.changes.map { "<li>before step \(step.number): \(report.text($0).onPage)</li>" }
        }
        let legend = actors.indices.map { "<li class=\"box a\($0)\">\(actors[$0].name)</li>" }
        return """
            <p>Repeat it with <code>TASK_OPERATIONS_SCHEDULE=\(failure.schedule.escapedForMarkup)</code>. Read from top
            to bottom: each column is a task, and each box is a step, in which its task runs alone. The colour of a box is the
            actor in which the task runs.</p>
            \(changes.isEmpty ? "" : "<p>The failure needs each of these changes of the usual order:</p><ol class=\"changes\">\(changes.joined())</ol>")
            <ul class="legend" aria-label="Legend">\(legend.joined())<li class="box none">in no actor</li>
            <li class="box change">change of the usual order</li><li><i class="arrow"></i>creates</li>
            <li><i class="arrow resumes"></i>resumes</li></ul>
            """
    }

    private var allSteps: String {
        "<details><summary>All \(report.trace.steps.count) steps</summary>\(grid(isComplete: true))</details>"
    }

    private func grid(isComplete: Bool) -> String {
        var grid = ScheduleGrid(report, actors, isComplete: isComplete)
        grid.end(with: failure)
        return grid.text
    }

    /// The hues differ most between neighbours, for any number of actors.
    private var colours: String { actors.indices.map { ".a\($0){--h:\((210 + $0 * 137) % 360)}" }.joined() }

    private static let style = """
        :root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--faint:#59636e;--rule:#d1d9e0;--light:90%;--deep:45%;
        --held:#ffe7a3;--edge:#bf8700;--wrong:#ffcecb;--red:#cf222e}
        @media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--faint:#9198a1;--rule:#3d444d;--light:20%;
        --deep:60%;--held:#4b3400;--edge:#d29922;--wrong:#5a1e20;--red:#f85149}}
        body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;background:var(--page);color:var(--ink)}
        h1{font-size:1.3rem;margin:0}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:1rem;color:var(--red)}
        small{display:block;color:var(--faint);font-size:.75rem;overflow-wrap:anywhere}ul,ol{list-style:none;padding:0}li{overflow-wrap:anywhere}
        .legend{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:center}.legend .arrow{display:inline-block;width:3rem;height:1rem;margin:0 .6rem 0 0;vertical-align:middle}
        .changes li{border-left:4px solid var(--edge);background:var(--held);padding:.2rem .6rem;max-width:60rem}
        .grid{display:grid;grid-template-columns:6rem repeat(var(--tasks),minmax(11rem,20rem));overflow:auto;max-height:92vh;
        margin:1rem 0;border:1px solid var(--rule);width:fit-content;max-width:100%}
        .grid>li{display:contents}
        .task{position:sticky;top:0;z-index:4;background:var(--page);border-bottom:2px solid var(--rule);padding:.4rem .7rem;text-align:center;
        max-height:6rem;overflow:hidden}
        .step small{white-space:nowrap}.step{position:sticky;left:0;z-index:3;grid-column:1;background:var(--page);border-right:2px solid var(--rule);padding:.3rem .6rem;
        text-align:right;color:var(--faint)}
        .box{--s:65%;z-index:2;margin:.25rem .6rem;padding:.2rem .6rem;border-radius:4px;max-height:14rem;overflow:hidden;
        border-left:5px solid hsl(var(--h) var(--s) var(--deep));background:hsl(var(--h) var(--s) var(--light))}
        .line{--s:65%;justify-self:center;width:4px;margin:.3rem 0 -.3rem;background:hsl(var(--h) var(--s) var(--deep))}.box.none,.line.none{--h:210;--s:8%}
        .change{background:var(--held);border-color:var(--edge)}
        .held{width:16px;background:repeating-linear-gradient(45deg,var(--edge) 0 4px,var(--held) 4px 9px)}
        .wrong,.end{background:var(--wrong);border-color:var(--red)}
        .band{grid-column:1/-1;z-index:2;padding:.3rem 1rem;background:var(--page);color:var(--faint)}.band span{position:sticky;left:1rem}
        .band.change{background:var(--held);color:inherit}.band.end{background:var(--wrong);color:inherit}
        .arrow{z-index:1;position:relative;margin:0 calc(50%/var(--n));background:linear-gradient(var(--ink),var(--ink)) 0 50%/100% 2px no-repeat}
        .resumes{background-image:repeating-linear-gradient(90deg,var(--ink) 0 6px,transparent 6px 10px)}
        .arrow::after{content:"";position:absolute;top:calc(50% - 6px);right:0;border:6px solid transparent;border-right:0;border-left:9px solid var(--ink)}
        .creates::before{content:"";position:absolute;top:50%;bottom:-.3rem;right:-2px;width:4px;background:hsl(210 8% var(--deep))}
        .back::before{right:auto;left:-2px}
        .back::after{right:auto;left:0;border-left:0;border-right:9px solid var(--ink)}
        .spoken{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}

        """
}

/// The rows of a schedule as a grid. The text is in the order of the steps, for screen readers.
private struct ScheduleGrid {
    private let report: ScheduleReport
    private let actors: [ScheduleTrace.Actor: (number: Int, name: String)]
    private var columns: [UInt64: Int] = [:]
    /// The elements of each row.
    private var rows: [String] = []
    /// The line below the last box of each task: its first row, and its class.
    private var lines: [UInt64: (row: Int, style: String)] = [:]
    private var time: Int64 = 0

    init(_ report: ScheduleReport, _ actors: [(actor: ScheduleTrace.Actor, name: String)], isComplete: Bool) {
        self.report = report
        self.actors = Dictionary(
            uniqueKeysWithValues: actors.enumerated().map { ($1.actor, (number: $0, name: $1.name)) })
        let rows = report.rows(isComplete: isComplete)
        addHeader(Set(rows.compactMap(\.task)))
        for row in rows { add(row) }
    }

    var text: String {
        "<ol class=\"grid\" role=\"list\" aria-label=\"Steps\" style=\"--tasks:\(columns.count)\">\n"
            + rows.map { "<li>\($0)</li>\n" }.joined() + "</ol>"
    }

    /// - Parameter tasks: The tasks that take part in the rows.
    private mutating func addHeader(_ tasks: Set<UInt64>) {
        rows.append("")
        for task in report.tasks.filter(tasks.contains) + tasks.filter({ report.trace.numbers[$0] == nil }).sorted() {
            columns[task] = columns.count + 2
            let name = report.trace.births[task]?.name.map { "<br>" + $0.onPage } ?? ""
            let origin = report.origin(of: task).map { "<small>\($0.onPage)</small>" } ?? ""
            rows[0] += element("task", task, "<b>\(report.title(of: task))</b>\(name)\(origin)")
        }
    }

    private mutating func add(_ row: ScheduleReport.Row) {
        rows.append("")
        switch row {
        case .gap(let count): addBand("gap", "… \(count) steps of the usual order")
        case .change(.timePasses(let now)):
            addBand("change", "⏱ \(report.effect(of: .timePasses(to: now)))")
            time = now
        case .change(let change):
            let task = change.task!
            var isCancelled = false
            if case .cancellation = change { isCancelled = true }
            addBox(task, "change", (isCancelled ? "✕ " : "⏸ ") + report.effect(of: change))
            lines[task] = (rows.count, isCancelled ? lines[task]?.style ?? "none" : "held")
        case .part(let part, let step, let isFirst):
            if isFirst { addNumber(of: step) }
            add(part, of: step)
        }
    }

    private mutating func addNumber(of step: ScheduleTrace.Step) {
        let moment = step.time == time ? "" : "<small>\(Duration.nanoseconds(step.time))</small>"
        rows[rows.count - 1] +=
            "<div class=\"step\" style=\"grid-row:\(rows.count)\"><span class=\"spoken\">step </span>\(step.number)\(moment)</div>"
        time = step.time
    }

    private mutating func add(_ part: ScheduleReport.Part, of step: ScheduleTrace.Step) {
        let actor = part.start.actor.flatMap { actors[$0] }
        var texts = part.events.compactMap { text($0, in: step) }
        if let function = part.start.address.flatMap(report.function) {
            texts.insert("<small>\(function.function.onPage) \((function.place ?? "").onPage)</small>", at: 0)
        }
        if texts.isEmpty { texts = ["continues"] }
        let place = actor.map { "in <b>\($0.name)</b>" } ?? "in no actor"
        addBox(part.task, style(of: part.start.actor), place + texts.map { "<div>\($0)</div>" }.joined())
        lines[part.task] = (rows.count, style(of: part.end.actor))
        for event in part.events {
            switch event {
            case .creates(let task):
                addArrow("arrow creates", from: part.task, to: task)
                if task != part.task { lines[task] = (rows.count + 1, "none") }
            case .resumes(let task): addArrow("arrow resumes", from: part.task, to: task)
            default: break
            }
        }
    }

    private func text(_ event: ScheduleTrace.Event, in step: ScheduleTrace.Step) -> String? {
        guard case .switches(_, _, let actor) = event else { return report.summary(of: event, in: step) }
        return actor.flatMap { actors[$0] }.map { "enters <b>\($0.name)</b>" } ?? "leaves its actor"
    }

    /// The class with the colour of an actor.
    private func style(of actor: ScheduleTrace.Actor?) -> String {
        actor.flatMap { actors[$0] }.map { "a\($0.number)" } ?? "none"
    }

    /// Adds the box of a task to the last row, and the line that leads to it.
    private mutating func addBox(_ task: UInt64, _ style: String, _ text: String) {
        let (row, column) = (rows.count, columns[task]!)
        if let line = lines[task] {
            rows[row - 1] +=
                "<i class=\"line \(line.style)\" style=\"grid-area:\(line.row)/\(column)/\(row)\"></i>"
        }
        lines[task] = (row, style)
        rows[row - 1] += element(
            "box \(style)", task, "<span class=\"spoken\">\(report.title(of: task)): </span>\(text)")
    }

    private func element(_ style: String, _ task: UInt64, _ text: String) -> String {
        "<div class=\"\(style)\" style=\"grid-area:\(rows.count)/\(columns[task]!)\">\(text)</div>"
    }

    private mutating func addArrow(_ style: String, from start: UInt64, to end: UInt64) {
        guard let start = columns[start], let end = columns[end], start != end else { return }
        let (first, last) = (min(start, end), max(start, end) + 1)
        rows[rows.count - 1] +=
            "<i class=\"\(style)\(end < start ? " back" : "")\" style=\"grid-area:\(rows.count)/\(first)/auto/\(last);--n:\(last - first)\"></i>"
    }

    private mutating func addBand(_ style: String, _ text: String) {
        rows[rows.count - 1] += "<div class=\"band \(style)\" style=\"grid-row:\(rows.count)\"><span>\(text)</span></div>"
    }

    /// Adds the tasks that wait forever, and the cause.
    mutating func end(with failure: ScheduleFailure) {
        let waiting = (failure.dump?.tasks ?? []).filter { columns[$0.number] != nil }
        if !waiting.isEmpty { rows.append("") }
        for task in waiting {
            let place = task.frames.first { $0.owner == .program }.map { "<small>\($0.description.onPage)</small>" } ?? ""
            addBox(task.number, "wrong", "waits forever" + place)
        }
        rows.append("")
        addBand("end", "✘ " + String(failure.text.prefix { !$0.isNewline }).onPage)
    }
}

extension String {
    /// The text for an element, on one line, without an effect on the direction of the text around it. A long text is
    /// clipped.
    fileprivate var onPage: String {
        let (start, rest) = (unicodeScalars.prefix(160), unicodeScalars.dropFirst(160))
        return "<bdi>\(String(start).escapedForMarkup)\(rest.isEmpty ? "" : "…")</bdi>"
    }
}
