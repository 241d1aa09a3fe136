/// The result of an auditor.
struct AuditResult {
    var files: Int
    var lines: Int
    var index: Report.IndexUse?
    var findings: [Finding]
    /// The paths of all files by number, and for each file the files that it uses, with the number of uses.
    var paths: [String]
    var uses: [[Int: Int]]
    /// For each file with several types, the uses between these types.
    var typeUses: [Int: [String: Set<String>]]
    var notes: [Note]
}

extension Report {
    /// - Parameter fixable: The number of findings that `--fix` rewrites.
    init(_ result: AuditResult, fixable: Int) {
        let left = result.findings.filter { $0.allowance == nil }.weighed()
        var builder = ReportBuilder(result, left)
        self.init(
            files: result.files, lines: result.lines, index: result.index,
            summary: builder.summary(), patterns: builder.patternRows(), findings: builder.entries(),
            waves: builder.waves(), rings: builder.rings(), notes: result.notes, start: builder.start(fixable: fixable),
            folders: builder.folderRows())
    }
}

private struct ReportBuilder {
    private let result: AuditResult
    private let left: [Finding]
    private let byFile: [Int: [Finding]]
    /// The order in which files move. Findings of strict checking and leftover uses of the bridge do not delay a
    /// file: they are fixed after all moves.
    private let order: Waves
    /// The order of all files that have remaining findings.
    private let all: Waves
    /// The wave of files in which no finding has to move.
    private let last: Int
    /// For each file of a ring, the ring's files that have findings.
    private let ringMembers: [Int: [Int]]
    /// For each file, the files with findings that use it.
    private let users: [[Int]]
    private var repositoryPaths = RepositoryPaths()
    /// How often a line has occurred. A repeated line needs its own fingerprint.
    private var ordinals: [String: Int] = [:]

    init(_ result: AuditResult, _ left: [Finding]) {
        self.result = result
        self.left = left
        let files = Dictionary(grouping: left, by: \.file)
        byFile = files
        var users = [[Int]](repeating: [], count: result.paths.count)
        for (number, uses) in result.uses.enumerated() where files[number] != nil {
            for used in uses.keys where files[used] != nil { users[used].append(number) }
        }
        self.users = users
        // No file uses a test. A test moves with the files that it tests, and delays no file.
        let edges = result.uses.enumerated().map { number, uses in
            Place.isTest(result.paths[number]) ? [:] : uses
        }
        let isLeft = result.paths.indices.map { number in
            !Place.isTest(result.paths[number]) && files[number] != nil
        }
        all = Waves(edges: edges, counts: isLeft)
        order = Waves(
            edges: edges,
            counts: isLeft.enumerated().map { $1 && files[$0]!.contains { !$0.pattern.step.isAfterMoves } })
        last = (order.wave.max() ?? 0) + 1
        var ringMembers: [Int: [Int]] = [:]
        for ring in order.components where ring.count > 1 {
            let members = ring.filter { files[$0] != nil }.sorted()
            for member in members where members.count > 1 { ringMembers[member] = members }
        }
        self.ringMembers = ringMembers
    }

    func summary() -> Report.Summary {
        var summary = Report.Summary()
        summary.allowed = result.findings.count - left.count
        summary.sites = left.count
        summary.certain = left.filter { $0.certainty == .certain }.count
        summary.likely = left.count - summary.certain
        summary.files = Set(left.map(\.file)).count
        summary.effort = left.weight
        summary.withoutRecipe = left.filter { $0.pattern.recipe == nil }.count
        let tests = left.filter { Place.isTest($0.path) }
        summary.hours = left.hours
        summary.testSites = tests.count
        summary.testHours = tests.hours
        let checking = left.filter { $0.pattern.family == .checking }
        summary.checkingSites = checking.count
        summary.checkingHours = checking.hours
        for finding in left { summary.families[finding.pattern.family.rawValue, default: 0] += 1 }
        return summary
    }

    func start(fixable: Int) -> Report.Start {
        let users = Dictionary(uniqueKeysWithValues: byFile.keys.map { ($0, self.users[$0].count) })
        return Report.Start(left.filter { !Place.isTest($0.path) }, users: users, fixable: fixable)
    }

    func folderRows() -> [Report.FolderRow] {
        let shared = Place.sharedFolders(left.map(\.path))
        return Dictionary(grouping: left) { Place.folder(of: $0.path, shared: shared) }.map { path, findings in
            Report.FolderRow(
                path: path, isTest: findings.allSatisfy { Place.isTest($0.path) },
                files: Set(findings.map(\.file)).count, sites: findings.count, hours: findings.hours)
        }.sorted { ($0.isTest ? 1 : 0, $1.sites, $0.path) < ($1.isTest ? 1 : 0, $0.sites, $1.path) }
    }

    func patternRows() -> [Report.PatternRow] {
        Dictionary(grouping: left, by: \.pattern.id).values.map { findings in
            let pattern = findings[0].pattern
            return Report.PatternRow(
                id: pattern.id, family: pattern.family.rawValue, title: pattern.title, recipe: pattern.recipe,
                effort: pattern.effort.rawValue, step: pattern.step.rawValue, meaning: pattern.meaning,
                sites: findings.count, files: Set(findings.map(\.file)).count,
                testSites: findings.count { Place.isTest($0.path) }, hours: findings.hours)
        }.sorted { ($1.sites, $0.id) < ($0.sites, $1.id) }
    }

    mutating func entries() -> [Report.Entry] {
        result.findings.map { finding in
            let path = repositoryPaths.relative(finding.path)
            let text = "\(finding.pattern.id)\n\(path)\n\(finding.source)"
            ordinals[text, default: 0] += 1
            return Report.Entry(
                pattern: finding.pattern.id, file: finding.path, line: finding.line, column: finding.column,
                certainty: finding.certainty.rawValue, condition: finding.condition.isEmpty ? nil : finding.condition,
                context: finding.context.isEmpty ? nil : finding.context, source: finding.source,
                allowance: finding.allowance, fingerprint: Fingerprint.of("\(text)\n\(ordinals[text]!)"))
        }
    }

    func waves() -> [Report.Wave] {
        let rows = byFile.map { number, findings in row(number, findings) }
        let grouped = Dictionary(grouping: rows, by: \.wave)
        return grouped.sorted { $0.key < $1.key }.map { number, rows in
            Report.Wave(
                number: number, effort: rows.reduce(0) { $0 + $1.effort }, sites: rows.reduce(0) { $0 + $1.sites },
                // Files that move alone are first. The files of a ring follow each other.
                files: rows.sorted { (ringStart($0), $0.effort, $0.path) < (ringStart($1), $1.effort, $1.path) })
        }
    }

    /// The first path of a file's ring; empty for a file that moves alone.
    private func ringStart(_ row: Report.FileRow) -> String {
        row.movesWith.flatMap { ($0 + [row.path]).min() } ?? ""
    }

    private func row(_ number: Int, _ findings: [Finding]) -> Report.FileRow {
        let used = result.uses[number].keys.filter { byFile[$0] != nil }.sorted()
        let isTest = Place.isTest(result.paths[number])
        let hardest = findings.max { $0.pattern.effort.rawValue < $1.pattern.effort.rawValue }!
        return Report.FileRow(
            path: result.paths[number], sites: findings.count,
            effort: findings.weight,
            wave: wave(number, findings, used),
            layer: isTest ? (used.map { all.layer[$0] }.max() ?? 0) + 1 : all.layer[number],
            uses: used.map { result.paths[$0] }, usedBy: users[number].map { result.paths[$0] },
            movesWith: ringMembers[number].map { $0.filter { $0 != number }.map { result.paths[$0] } },
            steps: Set(findings.map(\.pattern.step.rawValue)).sorted(), hardest: hardest.pattern.id,
            types: typeRows(number, findings))
    }

    private func wave(_ number: Int, _ findings: [Finding], _ used: [Int]) -> Int {
        if findings.allSatisfy({ $0.pattern.step.isAfterMoves }) { return last }
        if !Place.isTest(result.paths[number]) { return order.wave[number] }
        return max(1, used.map { order.wave[$0] }.filter { $0 > 0 }.min() ?? 1)
    }

    private func typeRows(_ number: Int, _ findings: [Finding]) -> [Report.TypeRow] {
        let byType = Dictionary(grouping: findings) { $0.context.prefix { $0 != "." } }.filter { !$0.key.isEmpty }
        let names = byType.keys.sorted()
        guard names.count > 1 else { return [] }
        let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { (String($1), $0) })
        let edges = names.map { name in
            let uses = result.typeUses[number]?[String(name)] ?? []
            return Dictionary(uniqueKeysWithValues: uses.compactMap { places[$0] }.map { ($0, 1) })
        }
        let order = Waves(edges: edges, counts: [Bool](repeating: true, count: names.count))
        return names.enumerated().map { place, name in
            Report.TypeRow(
                name: String(name), sites: byType[name]!.count,
                effort: byType[name]!.weight, wave: order.wave[place])
        }.sorted { ($0.wave, $0.name) < ($1.wave, $1.name) }
    }

    func rings() -> [Report.Ring] {
        order.rings.compactMap { members, cuts in
            let cuts = cuts.map { Report.Cut(from: result.paths[$0.from], to: result.paths[$0.to], count: $0.count) }
            guard let first = cuts.first else { return nil }
            return Report.Ring(
                files: members.filter { byFile[$0] != nil }.map { result.paths[$0] }, cutFrom: first.from,
                cutTo: first.to, cutCount: first.count, cuts: cuts)
        }
    }
}

/// A short hash of a text, the same on every machine: FNV-1a (Fowler, Noll, Vo) of 64 bits.
enum Fingerprint {
    static func of(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
