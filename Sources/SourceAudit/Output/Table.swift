import Foundation

/// A report for the terminal: the summary first, then each file, then the waves.
struct Table {
    private let report: Report
    private let new: [Report.Entry]?
    private let isSummary: Bool
    private let isColored: Bool
    private let patterns: [String: Report.PatternRow]

    init(_ report: Report, new: [Report.Entry]?, isSummary: Bool, isColored: Bool) {
        self.report = report
        self.new = new
        self.isSummary = isSummary
        self.isColored = isColored
        patterns = Dictionary(uniqueKeysWithValues: report.patterns.map { ($0.id, $0) })
    }

    var text: String {
        var parts = [summary, start, patternTable, folderTable]
        if let new {
            parts.append(
                new.isEmpty ? "No new findings since the baseline.\n" : "New since the baseline:\n" + files(new))
        } else if !isSummary {
            // Findings that do not count yet are not listed.
            let isCounted = report.summary.families[Pattern.Family.checking.rawValue] != nil
            parts.append(
                files(report.findings.filter { isCounted || Patterns.byID[$0.pattern]?.family != .checking }))
            parts.append(waves(report.waves))
        }
        if !report.notes.isEmpty, !isSummary { parts.append(notes) }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    // MARK: Summary

    private var summary: String {
        let summary = report.summary
        var lines = [
            bold("\(count(summary.sites, "site")) to move in \(count(summary.files, "file"))")
                + ", of \(count(report.files, "file")) with \(count(report.lines, "line"))",
            "about \(Self.text(summary.hours ?? 0)) hours; \(summary.testSites ?? 0) of the sites and "
                + "\(Self.text(summary.testHours ?? 0)) of the hours in tests",
            "\(summary.certain) certain, \(summary.likely) likely, "
                + "\(summary.withoutRecipe) without a recipe, \(summary.allowed) allowed by comments",
        ]
        if let index = report.index {
            let stale = index.stale.isEmpty ? "" : ", \(index.stale.count) changed since then"
            lines.append("the compiler's index knows \(count(index.files, "file"))\(stale)")
        } else {
            lines.append("from names alone, without an index of the compiler")
        }
        lines.append("hours are \(Pattern.Effort.measure)")
        if let folder = GuideText.folder, report.summary.sites > 0 { lines.append("recipes: \(folder)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Hot spots with their reasons, then quick wins, then one line for each other pattern.
    private var start: String {
        guard let start = report.start else { return "" }
        var text = ""
        for kind in start.hotSpots {
            text += bold(kind.title) + "  \(count(kind.sites, "site")): \(kind.reason)\n"
            text +=
                rows(
                    kind.spots.prefix(Self.spots).map { spot in
                        [
                            "  \(spot.file):\(spot.line)", count(spot.sites, "site"), "used by \(spot.usedBy)",
                            spot.recipe ?? "no recipe",
                        ]
                    }, hasHead: false
                ).joined(separator: "\n") + "\n"
            if kind.spots.count > Self.spots { text += "  and \(kind.spots.count - Self.spots) more files\n" }
        }
        if start.fixable > 0 || !start.quickWins.isEmpty {
            text += bold("Quick wins") + "\n"
            if start.fixable > 0 {
                text += "  \(count(start.fixable, "site")) that audit --fix rewrites\n"
            }
            for win in start.quickWins.prefix(Self.spots) {
                text += "  \(win.file)  \(count(win.sites, "site")) by rote; no other remaining file uses it\n"
            }
            if start.quickWins.count > Self.spots { text += "  and \(start.quickWins.count - Self.spots) more files\n" }
        }
        return text
    }

    /// The maximum number of files of a kind on the first screen.
    private static let spots = 5

    private var patternTable: String {
        let hot = Set(HotKind.all.flatMap(\.patterns))
        let others = report.patterns.filter { !hot.contains($0.id) }
        guard !others.isEmpty else { return "" }
        return rows(
            [["everything else", "sites", "in tests", "files", "hours", "effort", "recipe"]]
                + others.map { row in
                    let hours = Double(row.sites) * (Pattern.Effort(rawValue: row.effort)?.hours ?? 0)
                    return [
                        row.title, "\(row.sites)", "\(row.testSites ?? 0)", "\(row.files)", Self.text(hours),
                        effort(row.effort), row.recipe ?? "no recipe",
                    ]
                }
        ).joined(separator: "\n") + "\n"
    }

    private var folderTable: String {
        guard let folders = report.folders, folders.count > 1 else { return "" }
        return rows(
            [["target or folder", "sites", "files", "hours"]]
                + folders.map { row in
                    [
                        row.path.isEmpty ? "." : row.path, "\(row.sites)", "\(row.files)",
                        Self.text(row.hours) + (row.isTest ? "  tests" : ""),
                    ]
                }
        ).joined(separator: "\n") + "\n"
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
                text += dim("  \(row?.recipe ?? "no recipe")")
                if entry.certainty == "likely" { text += dim("  likely") }
                if let condition = entry.condition { text += dim("  #if \(condition)") }
                if let reason = entry.allowance { text += dim("  allowed: \(reason)") }
                lines.append(text)
                if !more.isEmpty { lines.append(dim("  " + more)) }
            }
            return bold(path) + "\n" + lines.joined(separator: "\n") + "\n"
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
            let isLast = wave.files.allSatisfy { $0.steps.allSatisfy { $0 >= Pattern.Step.checking.rawValue } }
            text +=
                "\n" + bold("wave \(wave.number)")
                + "  \(count(wave.sites, "site")), \(Self.text(Double(wave.effort) / 4)) h"
            text += isLast ? ", after everything else\n" : "\n"
            let table = wave.files.map { file in
                [
                    "  " + file.path, count(file.sites, "site"), "\(Self.text(Double(file.effort) / 4)) h",
                    "layer \(file.layer)",
                    "used by \(file.usedBy.count)", "steps " + file.steps.map(String.init).joined(separator: ", "),
                ]
            }
            text += rows(table, hasHead: false).joined(separator: "\n") + "\n"
            for file in wave.files where !file.types.isEmpty && !isSummary {
                let types = file.types.map { "\($0.name) (wave \($0.wave), \(count($0.sites, "site")))" }
                text += dim("  types of \(file.path): \(types.joined(separator: ", "))") + "\n"
            }
        }
        for ring in report.rings {
            text += "\nA ring of files that must move together: \(ring.files.joined(separator: ", "))\n"
            for cut in ring.cuts ?? [] {
                text += "  to cut: \(cut.from) uses \(cut.to), \(count(cut.count, "time"))\n"
            }
        }
        return text
    }

    private var notes: String {
        "Notes:\n" + report.notes.map { "  \($0.path): \($0.message)" }.joined(separator: "\n") + "\n"
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
