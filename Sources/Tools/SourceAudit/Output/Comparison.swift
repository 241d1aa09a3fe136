/// The differences between two reports.
struct Comparison: Codable {
    struct Family: Codable {
        let name: String
        let old: Int
        let new: Int
    }

    let oldSites: Int
    let newSites: Int
    let oldEffort: Int
    let newEffort: Int
    /// The number of places that only the old report has. `come` has the entries that only the new one has.
    let gone: Int
    let come: [Report.Entry]
    let families: [Family]
    /// The files that have no remaining findings.
    let finishedFiles: [String]

    init(old: Report, new: Report) {
        let oldLeft = old.findings.filter { $0.allowance == nil }
        let newLeft = new.findings.filter { $0.allowance == nil }
        oldSites = old.summary.sites
        newSites = new.summary.sites
        oldEffort = old.summary.effort
        newEffort = new.summary.effort
        let newPrints = Set(newLeft.map(\.fingerprint))
        let oldPrints = Set(oldLeft.map(\.fingerprint))
        gone = oldLeft.count { !newPrints.contains($0.fingerprint) }
        come = newLeft.filter { !oldPrints.contains($0.fingerprint) }
        families = Set(old.summary.families.keys).union(new.summary.families.keys).sorted().map { name in
            Family(name: name, old: old.summary.families[name] ?? 0, new: new.summary.families[name] ?? 0)
        }
        finishedFiles = Set(oldLeft.map(\.file)).subtracting(newLeft.map(\.file)).sorted()
    }

    /// Whether both reports have findings but share no file. Then they probably report on different code.
    static func areUnrelated(_ old: Report, _ new: Report) -> Bool {
        guard !old.findings.isEmpty, !new.findings.isEmpty else { return false }
        let prints = Set(old.findings.map(\.fingerprint))
        return Set(old.findings.map(\.file)).isDisjoint(with: new.findings.map(\.file))
            && prints.isDisjoint(with: new.findings.map(\.fingerprint))
    }

    func json() throws -> String { try JSONText.of(self) }

    func table(isColored: Bool) -> String {
        var lines = [
            "sites   \(oldSites) → \(newSites)   \(share(oldSites, newSites))",
            "hours   \(hours(oldEffort)) → \(hours(newEffort))   \(share(oldEffort, newEffort))",
            "\(gone) gone, \(come.count) new, \(finishedFiles.count) \(finishedFiles.count == 1 ? "file" : "files") finished",
            "",
        ]
        lines += families.map { "\($0.name)  \($0.old) → \($0.new)" }
        if !finishedFiles.isEmpty { lines += ["", "Finished:"] + finishedFiles.map { "  " + $0.shown } }
        if !come.isEmpty {
            lines +=
                ["", "New:"]
                + come.map { "  \($0.file.shown):\($0.line):\($0.column) \($0.pattern): \($0.source.shown)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func hours(_ effort: Int) -> String { Table.text(Double(effort) / 4) }

    /// The share of the old findings that are done.
    private func share(_ old: Int, _ new: Int) -> String {
        old == 0 ? "" : "\((old - new) * 100 / old) % done"
    }
}
