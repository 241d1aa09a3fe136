import Foundation

/// The changes that `--fix` makes, and the findings that it leaves.
struct Fixes {
    struct Left {
        let finding: Finding
        let reason: String
    }

    struct Rewritten {
        let path: String
        let old: [UInt8]
        let new: [UInt8]
    }

    /// The changed files in the order of their paths, including manifests.
    var files: [Rewritten] = []
    var rewritten: [Finding] = []
    var left: [Left] = []

    var diff: String {
        files.map { file in
            UnifiedDiff(
                path: file.path, old: String(decoding: file.old, as: UTF8.self),
                new: String(decoding: file.new, as: UTF8.self)
            ).text
        }.joined()
    }
}

extension Auditor {
    /// Finds the sites that can be rewritten, and rewrites them in memory.
    func fixes() -> Fixes { resultAndFixes().fixes }

    /// The result of the audit, and the changes that `--fix` would make.
    func resultAndFixes() -> (result: AuditResult, fixes: Fixes) {
        var facts = CodeBaseFacts()
        var candidates: [Int: [Finding]] = [:]
        var audited: FileMatcher?
        let result = result { matcher, findings in
            facts.add(matcher, findings)
            let own = findings.filter { Fixer.rewrite(for: $0) != nil && $0.allowance == nil }
            if !own.isEmpty, matcher.file.language == .swift { candidates[matcher.file.number] = own }
            audited = matcher
        }
        guard let audited else { return (result, Fixes()) }
        var fixer = Fixer(
            facts: facts, codeBase: audited.codeBase, rules: audited.rules, paths: result.paths,
            projects: Projects(roots: paths, paths: result.paths), raisesPlatforms: raisesPlatforms)
        fixer.run(candidates)
        return (result, fixer.fixes)
    }
}

/// Applies rewrites to files, one after the other.
struct Fixer {
    private var facts: CodeBaseFacts
    let codeBase: CodeBase
    let rules: Rules
    let paths: [String]
    private(set) var fixes = Fixes()
    private var projects: Projects
    private let raisesPlatforms: Bool
    /// The most sites of a file that are rewritten. Each rewrite reads the file again.
    private static let mostSites = 1000
    /// The Swift files of the projects that were not audited. They may use names of the audited ones.
    private var others: [String] = []
    /// The names of locks that these files declare for other types.
    private var otherTypes: Set<Word> = []

    init(
        facts: CodeBaseFacts, codeBase: CodeBase, rules: Rules, paths: [String], projects: Projects,
        raisesPlatforms: Bool
    ) {
        (self.facts, self.codeBase, self.rules, self.paths) = (facts, codeBase, rules, paths)
        (self.projects, self.raisesPlatforms) = (projects, raisesPlatforms)
    }

    static func rewrite(for finding: Finding) -> Rewrite? {
        Rewrite.all.first { $0.patterns.contains(finding.pattern.id) }
    }

    mutating func run(_ candidates: [Int: [Finding]]) {
        var accepted: [Int: [Finding]] = [:]
        var visible: [Word: [Finding]] = [:]
        var contexts: [Int: (project: Project, lock: Platforms.LockType)] = [:]
        readOthers(candidates.keys)
        for (number, findings) in candidates.sorted(by: { $0.key < $1.key }) {
            guard findings.count <= Self.mostSites else {
                let reason = "the file has more than \(Self.mostSites) sites"
                fixes.left += findings.map { Fixes.Left(finding: $0, reason: reason) }
                continue
            }
            guard let bytes = read(number) else { continue }
            let matcher = matcher(number, bytes)
            let found = Result { () throws(Refusal) in try projects.project(of: paths[number]) }
            for finding in findings {
                do throws(Refusal) {
                    let project = try found.get()
                    let need = Self.rewrite(for: finding)!.need
                    let lock = try lock(for: matcher, project, need) ?? contexts[number]?.lock ?? .mutex
                    if need != .nothing {
                        for manifest in project.manifests {
                            _ = try manifest.edits(
                                bridgeFor: need == .bridge ? [paths[number]] : [], raisesPlatforms: raisesPlatforms)
                        }
                        _ = try dependents(of: project)
                    }
                    if need == .lock { try checkName(of: lock, in: matcher) }
                    let change = try change(finding, matcher, project, lock)
                    contexts[number] = (project, lock)
                    accepted[number, default: []].append(finding)
                    if let word = change.visibleName { visible[word, default: []].append(finding) }
                } catch {
                    fixes.left.append(Fixes.Left(finding: finding, reason: error.reason))
                }
            }
        }
        leaveUsedElsewhere(visible, &accepted)
        var changed: [String: (manifests: [Manifest], bridge: [String])] = [:]
        for (number, findings) in accepted.sorted(by: { $0.key < $1.key }) {
            guard let (project, lock) = contexts[number] else { continue }
            let modules = rewrite(number, findings, project, lock)
            guard !modules.isEmpty else { continue }
            changed[project.folder, default: (project.manifests, [])].bridge +=
                modules.contains("TaskOperationsBridge") ? [paths[number]] : []
            for (folder, manifests) in (try? dependents(of: project)) ?? [:] where changed[folder] == nil {
                changed[folder] = (manifests, [])
            }
        }
        for change in changed.values {
            for manifest in change.manifests { rewrite(manifest, change.bridge) }
        }
        fixes.left.sort { ($0.finding.path, $0.finding.token) < ($1.finding.path, $1.finding.token) }
        fixes.files.sort { $0.path < $1.path }
    }

    /// Reads the files of the candidates' projects that were not audited, because only some paths were given.
    private mutating func readOthers(_ candidates: some Sequence<Int>) {
        let folders = Set(candidates.compactMap { try? projects.project(of: paths[$0]).folder })
        let audited = Set(paths.map { URL(filePath: $0).standardizedFileURL.path })
        let names: [Term?] = [.struct, .class, .enum, .actor, .typealias]
        for path in FileWalk(folders.sorted()).paths where path.hasSuffix(".swift") {
            guard !audited.contains(URL(filePath: path).standardizedFileURL.path), let file = other(path) else {
                continue
            }
            others.append(path)
            facts.addWithLocks(file)
            for lock in [Platforms.LockType.mutex, .unfairLock] {
                let word = codeBase.vocabulary[lock.name]
                let isDeclared = file.tokens.indices.contains { file.word($0) == word && names.contains(file[$0 - 1]) }
                if isDeclared { otherTypes.insert(word) }
            }
        }
    }

    private func other(_ path: String) -> SourceFile? {
        FileManager.default.contents(atPath: path).map {
            SourceFile(path: path, number: paths.count, bytes: [UInt8]($0), vocabulary: codeBase.vocabulary)
        }
    }

    /// The best lock that all systems of a file's project have; nil if the rewrite needs no module. Throws if the rewrite
    /// cannot use any lock.
    private func lock(
        for matcher: FileMatcher, _ project: Project, _ need: Rewrite.Need
    ) throws(Refusal) -> Platforms.LockType? {
        if need == .nothing { return nil }
        if need == .bridge, !project.hasBridge {
            throw Refusal("its Xcode project does not contain the bridge's package")
        }
        var platforms = project.platforms
        let imports = matcher.file.imports
        // Code with UIKit is not built for macOS, also if the manifest does not name its systems.
        if imports.contains("UIKit") { platforms.remove("macOS") }
        if raisesPlatforms { for manifest in project.manifests { platforms.removeStatements(of: manifest) } }
        guard let obstacle = platforms.obstacle(to: .mutex) else { return .mutex }
        guard need == .lock, platforms.obstacle(to: .unfairLock) == nil else { throw Refusal(obstacle) }
        guard project.isApple || !imports.isDisjoint(with: FileImports.apple) else {
            throw Refusal("\(obstacle), and Linux has no \(Platforms.LockType.unfairLock.name)")
        }
        return .unfairLock
    }

    /// Throws if a lock's name has another meaning in a file.
    private func checkName(of lock: Platforms.LockType, in matcher: FileMatcher) throws(Refusal) {
        let word = codeBase.vocabulary[lock.name]
        guard codeBase.types[word]?.contains(where: \.isDeclaration) != true, codeBase.alias(word) == nil,
            !otherTypes.contains(word)
        else {
            throw Refusal("the code base has a type \(lock.name) of its own")
        }
        let isImported = matcher.declarations.imports.contains(codeBase.vocabulary[lock.module])
        guard isImported || !matcher.file.tokens.contains(where: { $0.kind == .word && $0.word == word }) else {
            throw Refusal("the file uses another \(lock.name)")
        }
    }

    private func read(_ number: Int) -> [UInt8]? {
        FileManager.default.contents(atPath: paths[number]).map { [UInt8]($0) }
    }

    private func matcher(_ number: Int, _ bytes: [UInt8]) -> FileMatcher {
        let file = SourceFile(
            path: paths[number], number: number, bytes: bytes, vocabulary: codeBase.vocabulary,
            ownNames: codeBase.ownNames)
        var matcher = FileMatcher(file, Declarations(file), codeBase, rules, nil)
        matcher.run()
        return matcher
    }

    private func change(
        _ finding: Finding, _ matcher: FileMatcher, _ project: Project, _ lock: Platforms.LockType
    ) throws(Refusal) -> Rewrite.Change {
        let context = FixContext(
            matcher: matcher, codeBase: facts, needsSendableResults: project.mayUseSwift6, lock: lock)
        return try Self.rewrite(for: finding)!.change(finding, context)
    }

    /// Leaves findings whose names other files may use.
    private mutating func leaveUsedElsewhere(_ visible: [Word: [Finding]], _ accepted: inout [Int: [Finding]]) {
        guard !visible.isEmpty else { return }
        for path in paths + others {
            guard let file = other(path) else { continue }
            for index in file.tokens.indices where file.isWord(index) && file[index + 1] != .openParen {
                guard let findings = visible[file.word(index)] else { continue }
                // A declaration of the same name and a label are not uses of the variable. Neither is a name in an
                // unrelated type after `self` or without a value before it.
                let isMember = file[index - 1] == .dot && file[index - 2] != .selfValue
                let isInherited = file[index - 1] != .dot || file[index - 2] == .selfValue
                for finding in findings where finding.path != path {
                    let owner = codeBase.vocabulary[String(finding.context.split(separator: ".").last ?? "")]
                    let type = file.typeName(around: index)
                    let extends =
                        owner == Vocabulary.none || type == owner
                        || codeBase.chain(from: type).contains { $0.supers.contains { $0.name == owner } }
                    let isRequired = file[index - 1] == .var && file.isInProtocol(index)
                    guard isMember || isRequired || isInherited && extends else { continue }
                    guard accepted[finding.file]?.contains(where: { $0.token == finding.token }) == true else {
                        continue
                    }
                    accepted[finding.file]?.removeAll { $0.token == finding.token }
                    let reason = "\(path):\(file.line(index)) may use it"
                    fixes.left.append(Fixes.Left(finding: finding, reason: reason))
                }
            }
        }
    }

    /// Rewrites a file and returns the modules that it needs. The last finding is rewritten first, so that the indices
    /// of the other findings of its pattern do not change.
    private mutating func rewrite(
        _ number: Int, _ findings: [Finding], _ project: Project, _ lock: Platforms.LockType
    ) -> Set<String> {
        guard let old = read(number) else { return [] }
        var new = old
        var modules: Set<String> = []
        let ordinals = ordinals(in: matcher(number, old))
        for finding in findings.reversed() {
            let rewrite = Self.rewrite(for: finding)!
            let matcher = matcher(number, new)
            guard let ordinal = ordinals[finding.token],
                let current = self.ordinals(in: matcher).first(where: { $0.value == ordinal })?.key,
                let same = matcher.findings.first(where: {
                    $0.token == current && rewrite.patterns.contains($0.pattern.id)
                })
            else { continue }
            do throws(Refusal) {
                new = try change(same, matcher, project, lock).edits.applied(to: new)
                switch rewrite.need {
                case .lock: modules.insert(lock.module)
                case .bridge: modules.insert("TaskOperationsBridge")
                case .nothing: break
                }
                fixes.rewritten.append(finding)
            } catch {
                fixes.left.append(Fixes.Left(finding: finding, reason: error.reason))
            }
        }
        for module in modules.sorted() { new = adding(module, to: new, number) }
        if new != old { fixes.files.append(Fixes.Rewritten(path: paths[number], old: old, new: new)) }
        return modules
    }

    /// For each token whose finding can be rewritten, the number of its rewrite and its position among the tokens of
    /// that rewrite.
    private func ordinals(in matcher: FileMatcher) -> [Int: [Int]] {
        var counts = [Int](repeating: 0, count: Rewrite.all.count)
        var ordinals: [Int: [Int]] = [:]
        for finding in matcher.findings {
            guard let kind = Rewrite.all.firstIndex(where: { $0.patterns.contains(finding.pattern.id) }) else {
                continue
            }
            ordinals[finding.token] = [kind, counts[kind]]
            counts[kind] += 1
        }
        return ordinals
    }

    private func adding(_ module: String, to bytes: [UInt8], _ number: Int) -> [UInt8] {
        let file = SourceFile(path: paths[number], number: number, bytes: bytes, vocabulary: codeBase.vocabulary)
        return FileImports(file).adding(module).applied(to: bytes)
    }

    /// The manifests whose platforms have to be raised with those of a project; none if its platforms are not raised.
    private mutating func dependents(of project: Project) throws(Refusal) -> [String: [Manifest]] {
        guard raisesPlatforms else { return [:] }
        for manifest in project.manifests where try !manifest.edits(bridgeFor: [], raisesPlatforms: true).isEmpty {
            return try projects.dependents(of: project.folder)
        }
        return [:]
    }

    private mutating func rewrite(_ manifest: Manifest, _ paths: [String]) {
        guard let edits = try? manifest.edits(bridgeFor: paths, raisesPlatforms: raisesPlatforms), !edits.isEmpty else {
            return
        }
        let current = FileManager.default.currentDirectoryPath + "/"
        let path = manifest.path.hasPrefix(current) ? String(manifest.path.dropFirst(current.count)) : manifest.path
        fixes.files.append(Fixes.Rewritten(path: path, old: manifest.bytes, new: edits.applied(to: manifest.bytes)))
    }
}
