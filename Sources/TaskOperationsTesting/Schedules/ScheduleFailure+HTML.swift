internal import TaskDump

extension ScheduleFailure {
    /// A picture of the schedule, as one page that needs no script, no network and no other file. Each task has a column,
    /// each step a row, and each actor a colour. A long schedule has a second picture with all steps, unless there are
    /// more than 3,000. Takes time in proportion to the events. The first call for code with debug information can take
    /// seconds.
    public var html: String {
        let report = ScheduleReport(trace ?? ScheduleTrace())
        let (steps, actors) = (report.trace.steps, report.trace.actors)
        let changes = steps.flatMap { step in
            step.changes.map {
                "<li class=\"box change\">before step \(step.number): \(report.text($0, report.title))</li>"
            }
        }
        let legend = actors.map { "<li class=\"box a\($0.number)\">\($0.name.onPage)</li>" }
        // The hues of neighbours differ much, for any number of actors.
        let colours = actors.map { ".a\($0.number){--h:\((73 + $0.number * 137) % 360)}" }
        let all = report.isLong && steps.count <= 3_000 ? ScheduleGrid(self, report, isComplete: true).text : nil
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>A failing schedule</title>
            <style>\(pageStyle)\(colours.joined())</style>
            <h1>A failing schedule</h1>
            <pre>\(text.split(separator: "\n").map { String($0).escapedForMarkup }.joined(separator: "\n"))</pre>
            <p>Repeat it with <code>TASK_OPERATIONS_SCHEDULE=\(schedule.escapedForMarkup)</code>. Read from top to bottom: each
            column is a task, and each box is a step, in which its task runs alone. The colour is the actor of the step.</p>
            <p>\(changes.isEmpty ? "" : "The failure needs each of these changes of the usual order:")</p>
            <ol>\(changes.joined())</ol>
            <ul class="legend" aria-label="Legend">\(legend.joined())<li class="box none">in no actor</li>
            <li class="box change">change of the usual order; a striped line holds its task back</li><li><i class="arrow"></i>creates</li>
            <li><i class="arrow resumes"></i>resumes</li></ul>
            \(ScheduleGrid(self, report, isComplete: false).text)
            \(all.map { "<details><summary>All \(steps.count) steps</summary>\($0)</details>" } ?? "")
            <ul>\(notes.map { "<li>\($0.escapedForMarkup)</li>" }.joined())</ul>
            </html>

            """
    }
}

private let pageStyle = """
    :root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--faint:#59636e;--rule:#d1d9e0;--light:90%;--deep:45%;
    --held:#ffe7a3;--edge:#bf8700;--wrong:#ffcecb}@media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;
    --faint:#9198a1;--rule:#3d444d;--light:20%;--deep:60%;--held:#4b3400;--edge:#d29922;--wrong:#5a1e20}}
    body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;background:var(--page);color:var(--ink);overflow-wrap:anywhere}
    pre{white-space:pre-wrap;font-size:1rem;background:var(--wrong);padding:.5rem}ul,ol{list-style:none;padding:0}summary{cursor:pointer}
    small{color:var(--faint);font-size:.8rem}.legend,.legend li{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
    .grid{display:grid;grid-template-columns:6rem repeat(var(--tasks),minmax(11rem,20rem));overflow:auto;max-height:92vh;
    width:fit-content;max-width:100%;border:1px solid var(--rule)}.grid>li{display:contents}
    .task{position:sticky;top:0;z-index:4;padding:.5rem;max-height:6rem;overflow:hidden;text-align:center;
    background:var(--page);border-bottom:2px solid var(--rule)}
    .step{position:sticky;left:0;z-index:3;grid-column:1;padding:.4rem;text-align:right;background:var(--page)}
    .step small{display:block;white-space:nowrap}.box.none,.line.none{--h:210;--s:8%}
    .box{z-index:2;margin:.25rem .6rem;padding:.2rem .6rem;border-radius:4px;max-height:14rem;overflow:auto;--s:65%;
    border-left:5px solid hsl(var(--h) var(--s) var(--deep));background:hsl(var(--h) var(--s) var(--light))}
    .line{justify-self:center;width:4px;margin:.3rem 0 -.3rem;background:hsl(var(--h) var(--s,65%) var(--deep))}
    .held{width:16px;background:repeating-linear-gradient(45deg,var(--edge) 0 4px,var(--held) 4px 9px)}
    .band{grid-column:1/-1;z-index:2;padding:.3rem 1rem;background:var(--page)}.band span{position:sticky;left:1rem}
    .box.change,.band.change{background:var(--held);border-color:var(--edge)}
    .box.wrong,.band.wrong{background:var(--wrong);border-color:var(--edge)}
    .arrow{z-index:1;position:relative;margin:0 calc(50%/var(--n));--c:linear-gradient(var(--ink),var(--ink));
    background:var(--c) 0 50%/100% 2px no-repeat}.legend .arrow{width:3rem;height:1rem;margin:0}
    .resumes{--c:repeating-linear-gradient(90deg,var(--ink) 0 6px,transparent 6px 10px)}
    .arrow::after{content:"";position:absolute;top:calc(50% - 6px);right:0;border:6px solid transparent;border-width:6px 0;
    border-left:9px solid var(--ink)}.back::after{right:auto;left:0;border-left:0;border-right:9px solid var(--ink)}
    .new::before{content:"";position:absolute;top:50%;bottom:-.3rem;right:-2px;width:4px;background:hsl(210 8% var(--deep))}
    .spoken{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}

    """

/// The rows of a schedule as a grid. The text is in the order of the steps, for screen readers.
private struct ScheduleGrid {
    private let report: ScheduleReport
    private var columns: [UInt64: Int] = [:]
    /// The elements of each row.
    private var rows: [String] = []
    /// The line below the last box of each task: its first row, and its class.
    private var lines: [UInt64: (row: Int, style: String)] = [:]
    private var time: Int64 = 0

    init(_ failure: ScheduleFailure, _ report: ScheduleReport, isComplete: Bool) {
        self.report = report
        let rows = report.rows(isComplete: isComplete, showsPlaces: true)
        addHeader(Set(rows.compactMap(\.task).map(column)))
        for row in rows { add(row) }
        addEnd(failure)
    }

    var text: String {
        "<ol class=\"grid\" role=\"list\" aria-label=\"Steps\" style=\"--tasks:\(columns.count)\">\n"
            + rows.map { "<li>\($0)</li>\n" }.joined() + "</ol>"
    }

    /// The task whose column shows a task. The jobs of unknown tasks and of actors have one column.
    private func column(of task: UInt64) -> UInt64 { report.trace.numbers[task] == nil ? 0 : task }

    /// - Parameter tasks: The tasks that take part in the rows.
    private mutating func addHeader(_ tasks: Set<UInt64>) {
        rows.append("")
        for task in (report.tasks + [0]).filter(tasks.contains) {
            columns[task] = columns.count + 2
            let details = [report.trace.births[task]?.name, report.origin(of: task)].compactMap(\.self)
            add("task", task, "<b>\(report.title(of: task))</b>" + details.map { "<br>\($0.onPage)" }.joined())
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
            var below = "held"
            if case .cancellation = change { below = lines[change.task!]?.style ?? "none" }
            addBox(change.task!, "change", "⚠ " + report.effect(of: change), below: below)
        case .part(let part, let step, let isFirst):
            let moment = step.time == time ? "" : "<small>\(Duration.nanoseconds(step.time))</small>"
            let number = "<span class=\"spoken\">step </span>\(step.number)\(moment)"
            if isFirst { append("step", "div", "grid-row:\(rows.count)", number) }
            time = step.time
            add(part, of: step)
        }
    }

    private mutating func add(_ part: ScheduleReport.Part, of step: ScheduleTrace.Step) {
        let place = part.start.actor.map { "in <b>\($0.name.onPage)</b>" }
        let function = part.start.address.flatMap { report.symbols[$0] }
        let line = function.map { "<small>\($0.description.onPage)</small>" }
        let texts = [place, line].compactMap(\.self) + part.events.compactMap { text($0, in: step) }
        let content = texts.isEmpty ? "continues" : texts.joined(separator: "<br>")
        addBox(part.task, style(of: part.start.actor), content, below: style(of: part.end.actor))
        for event in part.events {
            if case .resumes(let task) = event { addArrow("arrow resumes", from: part.task, to: task) }
            guard case .creates(let task) = event, task != part.task else { continue }
            addArrow("arrow new", from: part.task, to: task)
            lines[task] = (rows.count + 1, "none")
        }
    }

    private func text(_ event: ScheduleTrace.Event, in step: ScheduleTrace.Step) -> String? {
        if case .switches(_, _, let actor?) = event { return "enters <b>\(actor.name.onPage)</b>" }
        return report.summary(of: event, in: step)
    }

    /// The class with the colour of an actor.
    private func style(of actor: ScheduleTrace.Actor?) -> String { actor.map { "a\($0.number)" } ?? "none" }

    /// Adds the box of a task to the last row, with the line that leads to it.
    private mutating func addBox(_ task: UInt64, _ style: String, _ text: String, below: String) {
        if let line = lines[task], let column = columns[task] {
            append("line \(line.style)", "i", "grid-area:\(line.row)/\(column)/\(rows.count)")
        }
        lines[task] = (rows.count, below)
        add("box \(style)", task, "<span class=\"spoken\">\(report.title(of: task)): </span>\(text)")
    }

    private mutating func add(_ style: String, _ task: UInt64, _ text: String) {
        guard let column = columns[column(of: task)] else { return }
        append(style, "div", "grid-area:\(rows.count)/\(column)", text)
    }

    private mutating func addArrow(_ style: String, from start: UInt64, to end: UInt64) {
        guard let start = columns[column(of: start)], let end = columns[end], start != end else { return }
        let (first, last) = (min(start, end), max(start, end) + 1)
        let area = "grid-area:\(rows.count)/\(first)/auto/\(last);--n:\(last - first)"
        append(style + (end < start ? " back" : ""), "i", area)
    }

    private mutating func addBand(_ style: String, _ text: String) {
        append("band \(style)", "div", "grid-row:\(rows.count)", "<span>\(text)</span>")
    }

    /// Adds an element to the last row.
    private mutating func append(_ style: String, _ element: String, _ area: String, _ text: String = "") {
        rows[rows.count - 1] += "<\(element) class=\"\(style)\" style=\"\(area)\">\(text)</\(element)>"
    }

    /// Adds the tasks that wait forever, and the cause.
    private mutating func addEnd(_ failure: ScheduleFailure) {
        rows.append("")
        for task in failure.dump?.tasks ?? [] {
            let function = task.frames.first { $0.owner == .program }
            let text = "waits forever" + (function.map { "<br><small>\($0.description.onPage)</small>" } ?? "")
            addBox(task.number, "wrong", text, below: "none")
        }
        rows.append("")
        addBand("wrong", "✘ " + String(failure.text.prefix { !$0.isNewline }).onPage)
    }
}

extension String {
    /// The text for an element, on one line. It has no effect on the direction of the text around it, and is clipped if it
    /// is long.
    fileprivate var onPage: String {
        let (start, rest) = (unicodeScalars.prefix(160), unicodeScalars.dropFirst(160))
        return "<bdi>\(String(start).escapedForMarkup)\(rest.isEmpty ? "" : "…")</bdi>"
    }
}
