import Foundation

/// Reads a code base twice: for its declarations, and for the sites of each pattern. Between the passes it keeps only
/// the declarations, which limits its memory.
public struct Auditor {
    public var paths: [String]
    /// Names or paths of files and folders that are not read.
    public var excluded: [String] = []
    /// The index stores to use; empty to look for them in `.build`.
    public var indexStores: [String] = []
    public var usesIndex = true
    /// Whether rewrites may raise the platforms of a manifest.
    public var raisesPlatforms = false
    /// The path of libIndexStore; nil for that of the toolchain.
    public var indexLibrary: String?
    /// Called with the number of finished files and the total, where both passes count.
    public var progress: (Int, Int) -> Void = { _, _ in }

    public init(paths: [String]) { self.paths = paths }

    /// Reads all files, and returns the report.
    public func run() -> Report {
        let (result, fixes) = resultAndFixes()
        return Report(result, fixable: fixes.rewritten.count)
    }

    /// The findings in a single source, by names alone. The path determines the language.
    public static func findings(in bytes: [UInt8], path: String) -> [Finding] {
        let vocabulary = Vocabulary()
        let codeBase = CodeBase(vocabulary)
        let file = SourceFile(path: path, number: 0, bytes: bytes, vocabulary: vocabulary)
        let declarations = Declarations(file)
        codeBase.add(declarations, of: file)
        var matcher = FileMatcher(file, declarations, codeBase, Rules(Patterns.all, vocabulary), nil)
        matcher.run()
        var findings = matcher.findings
        var allowances = Allowances(file)
        allowances.apply(to: &findings, path: path)
        return findings
    }

    /// - Parameter visit: Called with each file after it is matched, and with its findings, except those that
    ///   comments allow.
    func result(visit: (FileMatcher, [Finding]) -> Void = { _, _ in }) -> AuditResult {
        let walk = FileWalk(paths, excluded: excluded)
        let vocabulary = Vocabulary()
        var codeBase = CodeBase(vocabulary)
        var notes = walk.notes
        var result = AuditResult(
            files: 0, lines: 0, index: nil, findings: [], paths: walk.paths,
            uses: [[Int: Int]](repeating: [:], count: walk.paths.count), typeUses: [:], notes: [])
        for (number, path) in walk.paths.enumerated() {
            progress(number, walk.paths.count * 2)
            guard let file = Self.file(number, path, codeBase, &notes) else { continue }
            codeBase.add(Declarations(file), of: file)
            result.files += 1
            result.lines += file.lineCount
        }
        var lost: [Note] = []
        if let ownNames = codeBase.ownNames.located(in: walk.paths) {
            codeBase = CodeBase(vocabulary, ownNames: ownNames)
            for (number, path) in walk.paths.enumerated() {
                guard let file = Self.file(number, path, codeBase, &lost) else { continue }
                codeBase.add(Declarations(file), of: file)
            }
        }
        let rules = Rules(Patterns.all, vocabulary)
        let index = readIndexes(walk.paths, codeBase, rules, &notes)
        result.index = index.map { index in
            Report.IndexUse(
                stores: index.stores, files: index.records.count, stale: index.stale.map { walk.paths[$0] })
        }
        let homes = Homes(codeBase)
        let targets = Targets(walk.paths)
        codeBase.isolatedFiles = Set(walk.paths.indices.filter { targets.isIsolated(walk.paths[$0]) })
        var pool = PoolAnalysis(codeBase)
        var shared = SharedQueues()
        var extended = ExtensionUses()
        var uses = [[Word: Int]](repeating: [:], count: walk.paths.count)
        for (number, path) in walk.paths.enumerated() {
            progress(walk.paths.count + number, walk.paths.count * 2)
            guard let file = Self.file(number, path, codeBase, &lost) else { continue }
            var matcher = FileMatcher(file, Declarations(file), codeBase, rules, index?.records[number])
            matcher.isChecked = targets.isChecked(path)
            matcher.collectsWaits = true
            matcher.run()
            pool.add(matcher)
            var findings = matcher.findings
            var allowances = Allowances(file)
            allowances.apply(to: &findings, path: path)
            notes += allowances.notes
            result.findings += findings
            visit(matcher, findings)
            (uses[number], result.typeUses[number]) = homes.uses(of: file)
            shared.add(matcher)
            extended.add(matcher)
        }
        result.findings = pool.reached(result.findings)
        let moving = result.findings.filter {
            $0.allowance == nil && $0.pattern.effort != .kept && !$0.pattern.step.isAfterMoves
        }
        let ties = shared.ties(between: Set(moving.map(\.file)))
        let extensions = extended.edges(between: Set(moving.map(\.file)))
        let changing = SignatureChanges(result.findings, vocabulary).types
        let packages = PackageBounds(walk.paths)
        for number in walk.paths.indices {
            let named = homes.edges(uses[number], changing: changing)
            let exact = index?.uses[number]?.filter { changing[$0.key] != nil }
            result.uses[number] = (exact ?? named).merging(extensions[number] ?? [:]) { max($0, $1) }
                .merging(ties[number] ?? [:]) { max($0, $1) }
                .filter {
                    packages.allow(number, toUse: $0.key)
                        || packages.allow($0.key, toUse: number) && ties[number]?[$0.key] != nil
                }
        }
        notes += lost.filter { !notes.contains($0) }
        result.notes = notes
        return result
    }

    private static func file(_ number: Int, _ path: String, _ codeBase: CodeBase, _ notes: inout [Note]) -> SourceFile?
    {
        read(path, &notes).map { bytes in
            SourceFile(
                path: path, number: number, bytes: bytes, vocabulary: codeBase.vocabulary, ownNames: codeBase.ownNames)
        }
    }

    /// Reads the bytes of a file. Returns nil and adds a note if the file cannot be read.
    private static func read(_ path: String, _ notes: inout [Note]) -> [UInt8]? {
        guard let data = FileManager.default.contents(atPath: path) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            notes.append(Note(path: path, message: isThere ? FileWalk.unreadFile : "has vanished"))
            return nil
        }
        guard data.count < Int(UInt32.max) else {
            notes.append(Note(path: path, message: FileWalk.hugeFile))
            return nil
        }
        let start = data.prefix(4096)
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
            notes.append(Note(path: path, message: FileWalk.utf16File))
            return nil
        }
        if start.contains(0) {
            notes.append(Note(path: path, message: FileWalk.binaryFile))
            return nil
        }
        if isGenerated(start) {
            notes.append(Note(path: path, message: FileWalk.generatedFile))
            return nil
        }
        return [UInt8](data)
    }

    /// Whether the comment at the beginning of a file says that a program writes the file.
    private static func isGenerated(_ start: Data) -> Bool {
        let mark = #/(?i)@generated\b|do not (?:edit|modify)|\bauto-?generated|generated (?:by|using) /#
        return String(decoding: start, as: UTF8.self).split(whereSeparator: \.isNewline)
            .prefix { line in ["/", "*", " ", "\t", "#!"].contains(where: line.hasPrefix) }
            .contains { $0.contains(mark) }
    }

    private func readIndexes(
        _ paths: [String], _ codeBase: CodeBase, _ rules: Rules, _ notes: inout [Note]
    ) -> Indexes? {
        guard usesIndex else { return nil }
        let stores = indexStores.isEmpty ? Index.stores(near: self.paths) : indexStores
        guard !stores.isEmpty else { return nil }
        var files: [String: Int] = [:]
        for (number, path) in paths.enumerated() {
            files[URL(filePath: path).standardizedFileURL.path] = number
            files[URL(filePath: path).resolvingSymlinksInPath().path] = number
        }
        let members = Set(rules.members.keys.map { codeBase.vocabulary[$0] })
        let indexes = Indexes(
            stores: stores, library: indexLibrary, files: files, codeBase: codeBase, members: members)
        notes += indexes.failures.map { Note(path: $0.store, message: "\($0.message): names alone") }
        notes += indexes.stale.map {
            Note(path: paths[$0], message: "was changed after the index was made: names alone")
        }
        return indexes.records.isEmpty && indexes.stale.isEmpty ? nil : indexes
    }
}
