import Foundation

/// A report for the terminal: one screen, or all findings and waves.
struct Table {
    private let report: Report
    private let new: [Report.Entry]?
    private let isList: Bool
    private let isColored: Bool
    private let patterns: [String: Report.PatternRow]

    /// - Parameters:
    ///   - new: The findings that a baseline does not have; nil without a baseline.
    ///   - isList: Whether to list all findings, waves and notes.
    init(_ report: Report, new: [Report.Entry]?, isList: Bool, isColored: Bool) {
        self.report = report
        self.new = new
        self.isList = isList
        self.isColored = isColored
        patterns = Dictionary(uniqueKeysWithValues: report.patterns.map { ($0.id, $0) })
    }

    var text: String {
        var parts = [summary, start, patternTable, folderTable]
        if let new {
            parts.append(
                new.isEmpty ? "No new findings since the baseline.\n" : "New since the baseline:\n" + files(new))
        }
        if isList {
            if new == nil { parts.append(files(report.findings)) }
            parts.append(waves(report.waves))
        } else {
            parts.append(waveTable)
        }
        if !report.notes.isEmpty { parts.append(notes) }
        if !isList { parts.append("--list prints every site, wave and note; --html FILE writes them as a page\n") }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    // MARK: The screen

    private var summary: String {
        let summary = report.summary
        var lines = [
            bold("\(count(summary.sites, "site")) to move in \(count(summary.files, "file"))")
                + ", of \(count(report.files, "file")) with \(count(report.lines, "line"))",
            "about \(Self.text(summary.hours ?? 0)) hours; \(summary.testSites ?? 0) of the sites and "
                + "\(Self.text(summary.testHours ?? 0)) of the hours in tests, \(summary.checkingSites ?? 0) and "
                + "\(Self.text(summary.checkingHours ?? 0)) for strict checking, after all moves",
            "\(summary.certain) certain, \(summary.likely) likely, "
                + "\(summary.withoutRecipe) without a recipe, \(summary.allowed) allowed by comments",
        ]
        if let index = report.index {
            let stale = index.stale.isEmpty ? "" : ", \(index.stale.count) changed since then"
            lines.append("the compiler's index knows \(count(index.files, "file"))\(stale)")
        } else {
            lines.append("from names alone, without an index of the compiler")
        }
        if isList { lines.append("hours are \(Pattern.Effort.measure)") }
        if let folder = GuideText.folder, report.summary.sites > 0 { lines.append("recipes: \(folder.shown)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Hot spots with their reasons, then quick wins.
    private var start: String {
        guard let start = report.start else { return "" }
        var text = ""
        for kind in start.hotSpots {
            text += bold(kind.title) + "  \(count(kind.sites, "site")): \(kind.reason)\n"
            text +=
                rows(
                    kind.spots.prefix(spots).map { spot in
                        [
                            "  \(spot.file.shown):\(spot.line)", count(spot.sites, "site"), "used by \(spot.usedBy)",
                            spot.recipe ?? "no recipe",
                        ]
                    }, hasHead: false
                ).joined(separator: "\n") + more(kind.spots, "file") + "\n"
        }
        if start.fixable > 0 || !start.quickWins.isEmpty {
            text += bold("Quick wins") + "\n"
            if start.fixable > 0 { text += "  \(count(start.fixable, "site")) that audit --fix rewrites\n" }
            for win in start.quickWins.prefix(spots) {
                text += "  \(win.file.shown)  \(count(win.sites, "site")) by rote; no other remaining file uses it\n"
            }
            if start.quickWins.count > spots { text += "  and \(start.quickWins.count - spots) more files\n" }
        }
        return text
    }

    /// The maximum number of files of a kind.
    private var spots: Int { isList ? 5 : 2 }

    /// The maximum number of rows of a table.
    private var rowLimit: Int { isList ? .max : 6 }

    private func more(_ all: [some Any], _ noun: String) -> String {
        all.count > spots ? "\n  and \(count(all.count - spots, "more \(noun)"))" : ""
    }

    /// One line for each pattern that is not a hot spot.
    private var patternTable: String {
        let hot = Set(HotKind.all.flatMap(\.patterns))
        let others = report.patterns.filter { !hot.contains($0.id) }
        guard !others.isEmpty else { return "" }
        let rest = others.dropFirst(rowLimit)
        return rows(
            [["everything else", "sites", "in tests", "files", "hours", "effort", "recipe"]]
                + others.prefix(rowLimit).map { row in
                    [
                        row.title, "\(row.sites)", "\(row.testSites ?? 0)", "\(row.files)",
                        Self.text(row.hours ?? 0), effort(row.effort), row.recipe ?? "no recipe",
                    ]
                }
        ).joined(separator: "\n") + "\n"
            + remainder(rest.map { ($0.sites, $0.hours ?? 0) }, "more pattern")
    }

    private var folderTable: String {
        guard let folders = report.folders, folders.count > 1 else { return "" }
        let rest = folders.dropFirst(rowLimit)
        return rows(
            [["target or folder", "sites", "files", "hours"]]
                + folders.prefix(rowLimit).map { row in
                    [
                        row.path.isEmpty ? "." : row.path.shown, "\(row.sites)", "\(row.files)",
                        Self.text(row.hours) + (row.isTest ? "  tests" : ""),
                    ]
                }
        ).joined(separator: "\n") + "\n" + remainder(rest.map { ($0.sites, $0.hours) }, "more folder")
    }

    private var waveTable: String {
        let waves = report.waves
        guard !waves.isEmpty else { return "" }
        let rest = waves.dropFirst(rowLimit)
        return rows(
            [["wave", "sites", "files", "hours", "begins with"]]
                + waves.prefix(rowLimit).map { wave in
                    [
                        "\(wave.number)", "\(wave.sites)", "\(wave.files.count)", Self.text(Double(wave.effort) / 4),
                        (wave.files.first.map { $0.path.shown + together($0) } ?? "")
                            + (isLast(wave) ? "  after everything else" : ""),
                    ]
                }
        ).joined(separator: "\n") + "\n"
            + remainder(rest.map { ($0.sites, Double($0.effort) / 4) }, "more wave")
    }

    /// A line for the rows that are not printed, so that the numbers add up to the totals.
    private func remainder(_ rows: [(sites: Int, hours: Double)], _ noun: String) -> String {
        guard !rows.isEmpty else { return "" }
        let (sites, hours) = rows.reduce((0, 0.0)) { ($0.0 + $1.sites, $0.1 + $1.hours) }
        return "and \(count(rows.count, noun)): \(count(sites, "site")), \(Self.text(hours)) h\n"
    }

    /// Hours as text; a small number is rounded to a quarter.
    static func text(_ hours: Double) -> String {
        let rounded = hours < 10 ? hours : hours.rounded()
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    private func effort(_ effort: Int) -> String {
        switch effort {
        case 0: "none"
        case 1: "by rote"
        case 2: "callers"
        case 4: "translate"
        default: "thought"
        }
    }

    // MARK: Files and waves

    private func files(_ entries: [Report.Entry]) -> String {
        let byFile = Dictionary(grouping: entries, by: \.file)
        return byFile.sorted { $0.key < $1.key }.map { path, entries in
            var lines: [String] = []
            for (entry, more) in Self.runs(entries) {
                let place = "\(entry.line):\(entry.column)"
                let row = patterns[entry.pattern] ?? Patterns.byID[entry.pattern].map(Report.PatternRow.init)
                var text = "  \(pad(place, 9)) \(row?.title ?? entry.pattern)"
                if let path = entry.context, path.contains(" → ") { text += " by \(path)" }
                text += dim("  \(row?.recipe ?? "no recipe")")
                if entry.certainty == "likely" { text += dim("  likely") }
                if let condition = entry.condition { text += dim("  #if \(condition.shown)") }
                if let reason = entry.allowance { text += dim("  allowed: \(reason.shown)") }
                lines.append(text)
                if !more.isEmpty { lines.append(dim("  " + more)) }
            }
            return bold(path.shown) + "\n" + lines.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// The entries, with each long sequence of the same pattern as one line that shows the number of the others.
    private static func runs(_ entries: [Report.Entry]) -> [(entry: Report.Entry, more: String)] {
        var runs: [[Report.Entry]] = []
        for entry in entries {
            if let last = runs.last?.last, last.pattern == entry.pattern, last.certainty == entry.certainty,
                last.condition == entry.condition, last.allowance == entry.allowance
            {
                runs[runs.count - 1].append(entry)
            } else {
                runs.append([entry])
            }
        }
        return runs.flatMap { run in
            guard run.count > 8, let last = run.last else { return run.map { ($0, "") } }
            return [(run[0], "and \(run.count - 1) more to \(last.line):\(last.column)")]
        }
    }

    private func waves(_ waves: [Report.Wave]) -> String {
        guard !waves.isEmpty else { return "" }
        var text = "Waves: no other remaining file uses a file of wave 1. A file uses only files of lower layers.\n"
        for wave in waves {
            text +=
                "\n" + bold("wave \(wave.number)")
                + "  \(count(wave.sites, "site")), \(Self.text(Double(wave.effort) / 4)) h"
            text += isLast(wave) ? ", after everything else\n" : "\n"
            let table = wave.files.map { file in
                [
                    "  " + file.path.shown, count(file.sites, "site"), "\(Self.text(Double(file.effort) / 4)) h",
                    "layer \(file.layer)",
                    "used by \(file.usedBy.count)",
                    "steps " + file.steps.map(String.init).joined(separator: ", ") + together(file),
                ]
            }
            text += rows(table, hasHead: false).joined(separator: "\n") + "\n"
            for file in wave.files where !file.types.isEmpty {
                let types = file.types.map { "\($0.name.shown) (wave \($0.wave), \(count($0.sites, "site")))" }
                text += dim("  types of \(file.path.shown): \(types.joined(separator: ", "))") + "\n"
            }
        }
        for ring in report.rings {
            text += "\nA ring of files that must move together: \(ring.files.joined(separator: ", ").shown)\n"
            for cut in ring.cuts ?? [] {
                text += "  to cut: \(cut.from.shown) uses \(cut.to.shown), \(count(cut.count, "time"))\n"
            }
        }
        return text
    }

    private func together(_ file: Report.FileRow) -> String {
        file.movesWith.map { "  together with \(count($0.count, "other file"))" } ?? ""
    }

    private func isLast(_ wave: Report.Wave) -> Bool {
        wave.files.allSatisfy { $0.steps.allSatisfy { $0 >= Pattern.Step.checking.rawValue } }
    }

    private var notes: String {
        let notes = report.notes.prefix(isList ? .max : 3)
        let more = report.notes.count - notes.count
        return "Notes:\n" + notes.map { "  \($0.path.shown): \($0.message.shown)\n" }.joined()
            + (more > 0 ? "  and \(count(more, "more note"))\n" : "")
    }

    // MARK: Text

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private func rows(_ rows: [[String]], hasHead: Bool = true) -> [String] {
        guard let columns = rows.first?.count, rows.count > (hasHead ? 1 : 0) else { return [] }
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.enumerated().map { number, row in
            let cells = row.enumerated().map { $0 == columns - 1 ? $1 : pad($1, widths[$0]) }
            let line = cells.joined(separator: "  ")
            return hasHead && number == 0 ? dim(line) : line
        }
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    private func dim(_ text: String) -> String { isColored ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}

extension Report.PatternRow {
    /// Creates a row for a pattern that has no remaining findings.
    init(_ pattern: Pattern) {
        self.init(
            id: pattern.id, family: pattern.family.rawValue, title: pattern.title, recipe: pattern.recipe,
            effort: pattern.effort.rawValue, step: pattern.step.rawValue, meaning: pattern.meaning, sites: 0, files: 0)
    }
}
