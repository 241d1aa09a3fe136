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
    func fixes() -> Fixes {
        var facts = CodeBaseFacts()
        var candidates: [Int: [Finding]] = [:]
        var audited: FileMatcher?
        let result = result { matcher, findings in
            facts.add(matcher, findings)
            let own = findings.filter { Fixer.rewrite(for: $0) != nil && $0.allowance == nil }
            if !own.isEmpty, matcher.file.language == .swift { candidates[matcher.file.number] = own }
            audited = matcher
        }
        guard let audited else { return Fixes() }
        var fixer = Fixer(facts: facts, codeBase: audited.codeBase, rules: audited.rules, paths: result.paths)
        fixer.run(candidates)
        return fixer.fixes
    }
}

/// Applies rewrites to files, one after the other.
struct Fixer {
    let facts: CodeBaseFacts
    let codeBase: CodeBase
    let rules: Rules
    let paths: [String]
    private(set) var fixes = Fixes()
    private var manifests: [String: [Manifest]] = [:]

    init(facts: CodeBaseFacts, codeBase: CodeBase, rules: Rules, paths: [String]) {
        (self.facts, self.codeBase, self.rules, self.paths) = (facts, codeBase, rules, paths)
    }

    static func rewrite(for finding: Finding) -> Rewrite? {
        Rewrite.all.first { $0.patterns.contains(finding.pattern.id) }
    }

    mutating func run(_ candidates: [Int: [Finding]]) {
        var accepted: [Int: [Finding]] = [:]
        var visible: [Word: [Finding]] = [:]
        for (number, findings) in candidates.sorted(by: { $0.key < $1.key }) {
            guard let bytes = read(number) else { continue }
            for finding in findings {
                do throws(Refusal) {
                    let manifests = try manifests(for: number)
                    let needsBridge = Self.rewrite(for: finding)!.module == "TaskOperationsBridge"
                    for manifest in manifests { _ = try manifest.edits(bridgeFor: needsBridge ? [paths[number]] : []) }
                    let matcher = matcher(number, bytes)
                    if !needsBridge { try checkNames(matcher) }
                    let change = try change(finding, matcher, manifests)
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
            guard let manifests = try? manifests(for: number), let folder = manifests.first?.folder else { continue }
            let modules = rewrite(number, findings, manifests)
            guard !modules.isEmpty else { continue }
            changed[folder, default: (manifests, [])].bridge +=
                modules.contains("TaskOperationsBridge") ? [paths[number]] : []
        }
        for change in changed.values {
            for manifest in change.manifests { rewrite(manifest, change.bridge) }
        }
        fixes.left.sort { ($0.finding.path, $0.finding.token) < ($1.finding.path, $1.finding.token) }
        fixes.files.sort { $0.path < $1.path }
    }

    /// Throws if a type of another module has the same name as a type of Synchronization, because the name would be
    /// ambiguous.
    private func checkNames(_ matcher: FileMatcher) throws(Refusal) {
        let file = matcher.file
        guard !matcher.declarations.imports.contains(file.vocabulary["Synchronization"]) else { return }
        for name in ["Mutex", "Atomic", "AtomicLazyReference", "AtomicRepresentable", "WordPair"] {
            let word = file.vocabulary[name]
            guard !file.tokens.contains(where: { $0.kind == .word && $0.word == word }) else {
                throw Refusal("the file uses another \(name)")
            }
        }
    }

    private func read(_ number: Int) -> [UInt8]? {
        FileManager.default.contents(atPath: paths[number]).map { [UInt8]($0) }
    }

    private mutating func manifests(for number: Int) throws(Refusal) -> [Manifest] {
        let folder = URL(filePath: paths[number]).deletingLastPathComponent().path
        if let known = manifests[folder] { return known }
        let found = try Manifest.near(paths[number])
        manifests[folder] = found
        return found
    }

    private func matcher(_ number: Int, _ bytes: [UInt8]) -> FileMatcher {
        let file = SourceFile(path: paths[number], number: number, bytes: bytes, vocabulary: codeBase.vocabulary)
        var matcher = FileMatcher(file, Declarations(file), codeBase, rules, nil)
        matcher.run()
        return matcher
    }

    private func change(
        _ finding: Finding, _ matcher: FileMatcher, _ manifests: [Manifest]
    ) throws(Refusal) -> Rewrite.Change {
        let context = FixContext(
            matcher: matcher, codeBase: facts, needsSendableResults: manifests.contains(where: \.mayUseSwift6))
        return try Self.rewrite(for: finding)!.change(finding, context)
    }

    /// Leaves findings whose names other files may use.
    private mutating func leaveUsedElsewhere(_ visible: [Word: [Finding]], _ accepted: inout [Int: [Finding]]) {
        guard !visible.isEmpty else { return }
        for number in paths.indices {
            guard let bytes = read(number) else { continue }
            let file = SourceFile(path: paths[number], number: number, bytes: bytes, vocabulary: codeBase.vocabulary)
            for index in file.tokens.indices where file.isWord(index) && file[index + 1] != .openParen {
                guard let findings = visible[file.word(index)] else { continue }
                // A declaration of the same name and a label are not uses of the variable. Neither is a name in an
                // unrelated type after `self` or without a value before it.
                let isMember = file[index - 1] == .dot && file[index - 2] != .selfValue
                let isInherited = file[index - 1] != .dot || file[index - 2] == .selfValue
                for finding in findings where finding.file != number {
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
                    let reason = "\(paths[number]):\(file.line(index)) may use it"
                    fixes.left.append(Fixes.Left(finding: finding, reason: reason))
                }
            }
        }
    }

    /// Rewrites a file and returns the modules that it needs. The last finding is rewritten first, so that the indices
    /// of the other findings of its pattern do not change.
    private mutating func rewrite(_ number: Int, _ findings: [Finding], _ manifests: [Manifest]) -> Set<String> {
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
                new = try change(same, matcher, manifests).edits.applied(to: new)
                modules.insert(rewrite.module)
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

    /// Inserts the import of a module behind the other imports.
    private func adding(_ module: String, to bytes: [UInt8], _ number: Int) -> [UInt8] {
        let file = SourceFile(path: paths[number], number: number, bytes: bytes, vocabulary: codeBase.vocabulary)
        let imports = file.tokens.indices.filter { index in
            file[index] == .import && file.outline.scope(of: index) == 0 && file.outline.condition(of: index) == 0
        }
        if imports.contains(where: { file.text($0 + 1) == module && file[$0 + 2] != .dot }) { return bytes }
        var place = file.tokens.first.map { Int($0.start) } ?? 0
        if let last = imports.last {
            let line = file.line(last)
            place = line < file.lineStarts.count ? file.lineStart(line + 1) : bytes.count
        }
        return [Edit(range: place..<place, text: "import \(module)\n")].applied(to: bytes)
    }

    private mutating func rewrite(_ manifest: Manifest, _ paths: [String]) {
        guard let edits = try? manifest.edits(bridgeFor: paths), !edits.isEmpty else { return }
        let current = FileManager.default.currentDirectoryPath + "/"
        let path = manifest.path.hasPrefix(current) ? String(manifest.path.dropFirst(current.count)) : manifest.path
        fixes.files.append(Fixes.Rewritten(path: path, old: manifest.bytes, new: edits.applied(to: manifest.bytes)))
    }
}
