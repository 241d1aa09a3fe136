/// Suggestions for the start: the main gains of a move, and the parts that can be done at once.
extension Report {
    public struct Start: Codable, Sendable {
        public var hotSpots: [HotSpots]
        /// Files that need only mechanical changes, and that no file with remaining findings uses.
        public var quickWins: [QuickWin]
        /// The number of findings that `--fix` rewrites.
        public var fixable: Int
    }

    /// Places of one kind, by file. Files with the most users are first.
    public struct HotSpots: Codable, Sendable {
        public var title: String
        public var reason: String
        public var sites: Int
        public var spots: [HotSpot]
    }

    public struct HotSpot: Codable, Sendable {
        public var file: String
        public var line: Int
        public var source: String
        public var recipe: String?
        /// The number of sites of this kind in the file. `usedBy` is the number of files with findings that use the
        /// file.
        public var sites: Int
        public var usedBy: Int
    }

    public struct QuickWin: Codable, Sendable {
        public var file: String
        public var sites: Int
    }

    /// A target or folder: the folder below `Sources` or `Tests`, or the first folder below the folder that all files
    /// share.
    public struct FolderRow: Codable, Sendable {
        public var path: String
        public var isTest: Bool
        public var files: Int
        public var sites: Int
        public var hours: Double
    }
}

/// A kind of pattern that this package replaces especially well.
struct HotKind {
    let title: String
    let reason: String
    let patterns: Set<String>

    /// All kinds, in display order.
    static let all = [
        HotKind(
            title: "Subclasses of Operation and OperationQueue", reason: "each becomes a body with a result",
            patterns: Set(Pattern.subclassWeights.keys)),
        HotKind(
            title: "Graphs", reason: "operations that order other operations or pass values to them",
            patterns: [
                "operation-graph", "operation-dependency", "operation-dependency-cycle", "operation-input-property",
                "operation-dependencies-across-queues", "operation-overrides-ready", "operation-last",
                "system-downloader", "system-manager",
            ]),
        HotKind(
            title: "Blocking waits", reason: "each holds a thread; its callers become async",
            patterns: [
                "operation-wait", "queue-wait", "queue-add-and-wait", "queue-add-batches", "group-wait",
                "dispatch-main-sync", "dispatch-sync-own-queue", "semaphore-wait", "lock-condition",
                "lock-condition-order", "thread-worker",
            ]),
        HotKind(
            title: "Semaphores", reason: "a lock, a limit or a signal; each has a different replacement",
            patterns: [
                "semaphore-signal", "semaphore-limit", "semaphore-producer", "semaphore-unknown", "semaphore-c",
                "semaphore-lock",
            ]),
    ]
}

extension Report.Start {
    /// - Parameters:
    ///   - left: The remaining findings outside tests.
    ///   - users: The number of files with findings that use each file.
    init(_ left: [Finding], users: [Int: Int], fixable: Int) {
        let byFile = Dictionary(grouping: left, by: \.file)
        hotSpots = HotKind.all.compactMap { kind in
            let findings = left.filter { kind.patterns.contains($0.pattern.id) }
            guard !findings.isEmpty else { return nil }
            let spots = Dictionary(grouping: findings, by: \.file).map { file, findings in
                Report.HotSpot(
                    file: findings[0].path, line: findings[0].line, source: findings[0].source,
                    recipe: findings[0].pattern.recipe, sites: findings.count, usedBy: users[file] ?? 0)
            }
            return Report.HotSpots(
                title: kind.title, reason: kind.reason, sites: findings.count,
                spots: spots.sorted { ($1.usedBy, $1.sites, $0.file) < ($0.usedBy, $0.sites, $1.file) })
        }
        quickWins = byFile.compactMap { file, findings in
            let isQuick = findings.allSatisfy { $0.pattern.effort == .rote && !$0.pattern.step.isAfterMoves }
            guard isQuick, users[file] ?? 0 == 0 else { return nil }
            return Report.QuickWin(file: findings[0].path, sites: findings.count)
        }.sorted { ($1.sites, $0.file) < ($0.sites, $1.file) }
        self.fixable = fixable
    }
}

/// Determines whether a file is a test, and its target or folder.
enum Place {
    static func isTest(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        let isInTests = parts.dropLast().contains { part in
            ["Tests", "Test", "Specs", "Spec"].contains(part) || part.hasSuffix("Tests") || part.hasSuffix("UITest")
        }
        let name = parts.last?.prefix { $0 != "." } ?? ""
        return isInTests || ["Tests", "Test", "Spec", "TestCase"].contains { name.hasSuffix($0) }
    }

    /// - Parameter shared: The number of folders that all files share.
    static func folder(of path: String, shared: Int) -> String {
        let folders = path.split(separator: "/").dropLast()
        if let place = folders.lastIndex(where: { ["Sources", "Source", "Tests"].contains($0) }) {
            return folders[...min(place + 1, folders.count - 1)].joined(separator: "/")
        }
        return folders.prefix(shared + 1).joined(separator: "/")
    }

    /// The number of leading folders that all paths share.
    static func sharedFolders(_ paths: [String]) -> Int {
        guard var shared = paths.first.map({ Array($0.split(separator: "/").dropLast()) }) else { return 0 }
        for path in paths { shared = zip(shared, path.split(separator: "/").dropLast()).prefix { $0 == $1 }.map(\.0) }
        return shared.count
    }
}

/// Findings that are one change: those in one type of a file, or outside all types of the file.
private struct Change: Hashable {
    let file: Int
    let type: String?
}

extension [Finding] {
    /// The findings with their estimated times. The findings in one type are one change, whatever their families: its
    /// hardest finding has the time of the declaration, and every fifth further site has a quarter of an hour. So all
    /// totals are sums over findings.
    func weighed() -> [Finding] {
        let places = indices.filter { self[$0].pattern.effort != .kept }
        let changes = Dictionary(grouping: places) { Change(file: self[$0].file, type: self[$0].declaration?.name) }
        var result = self
        for places in changes.values {
            let hardest = places.max { self[$0].difficulty < self[$1].difficulty }!
            var left = longestTime(places)
            result[hardest].weight = Swift.min(self[hardest].pattern.weight, left)
            left -= result[hardest].weight
            for (number, place) in places.lazy.filter({ $0 != hardest }).enumerated() where number % 5 == 4 && left > 0
            {
                result[place].weight = 1
                left -= 1
            }
        }
        return result
    }

    /// The time to remove and write each line of the declarations that contain findings, at 40 lines an hour, in
    /// quarters of an hour.
    private func longestTime(_ places: [Int]) -> Int {
        let declarations = Set(places.map { self[$0].declaration })
        if declarations.contains(nil) { return .max }
        let lines = declarations.reduce(0) { $0 + $1!.lines.count }
        return (2 * lines + 9) / 10
    }

    /// The sum of the estimated times, in quarters of an hour.
    var weight: Int { reduce(0) { $0 + $1.weight } }

    var hours: Double { Double(weight) / 4 }
}

extension Pattern.Effort {
    /// The basis of the hours, for reports.
    static let measure =
        "estimates for each declaration: 0.25 h by rote, 0.5 h if callers change, 1 h if it needs thought, 2 h for a "
        + "subclass with main(), 5 h for other subclasses, 0.25 h for every five further sites in it, and at most 1 h for "
        + "20 lines of it"
}

extension Finding {
    /// The rank of the finding in its change. The work for strict checking often ends with the other work.
    fileprivate var difficulty: (Int, Int) { (pattern.weight, pattern.step == .checking ? 0 : 1) }
}
