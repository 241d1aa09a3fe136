import Foundation

/// The parts of a package manifest that rewrites read or change.
struct Manifest {
    /// The folder of the manifest. `name` is the name of the file in that folder.
    let folder: String
    let name: String
    private let file: SourceFile
    /// The labels of `Package(…)`, with the token of each.
    private let labels: [String: Int]
    private let targets: [Target]

    /// Whether the name or the path of a target is computed.
    private let hasComputedTargets: Bool

    private struct Target {
        /// The labels of the target's arguments, with the token of each.
        let labels: [String: Int]
        /// The path of the target's folder, relative to the manifest.
        let folder: String
        /// The paths in that folder that the compiler does not read: excluded files and resources.
        let excluded: [String]
        /// The only paths in that folder that the compiler reads; empty for all.
        let sources: [String]

        /// Whether the target compiles a file, by its path relative to the target's folder.
        func compiles(_ path: String) -> Bool {
            let isOpaque = path.split(separator: "/").dropLast().contains { part in
                Target.opaque.contains { part.hasSuffix($0) }
            }
            return !isOpaque && !excluded.contains { Target.isBelow($0, path) }
                && (sources.isEmpty || sources.contains { Target.isBelow($0, path) })
        }

        static func isBelow(_ folder: String, _ path: String) -> Bool {
            ["", "."].contains(folder) || path == folder || path.hasPrefix(folder + "/")
        }

        private static let opaque = [".playground", ".docc", ".bundle", ".xcassets", ".framework", ".xcframework"]
    }

    /// The manifests of the package in a folder: the general one, and those for single Swift versions. Empty if there is
    /// no package.
    static func all(in folder: String) throws(Refusal) -> [Manifest] {
        guard FileManager.default.fileExists(atPath: folder + "/Package.swift") else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var manifests: [Manifest] = []
        for name in names.sorted() where name == "Package.swift" || name.hasPrefix("Package@swift-") {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
                throw Refusal("\(name) cannot be read")
            }
            let manifest = try Manifest(folder: folder, name: name, bytes: [UInt8](data))
            // Manifests of older versions are skipped: their compilers cannot build the modules that a rewrite needs.
            if manifest.toolsVersion.major >= 5 || name == "Package.swift" { manifests.append(manifest) }
        }
        return manifests
    }

    var path: String { "\(folder)/\(name)" }
    var bytes: [UInt8] { file.bytes }

    init(folder: String, name: String = "Package.swift", bytes: [UInt8]) throws(Refusal) {
        (self.folder, self.name) = (folder, name)
        file = SourceFile(path: name, number: 0, bytes: bytes, vocabulary: Vocabulary())
        let file = file
        guard let package = file.tokens.indices.first(where: { file.text($0) == "Package" && file[$0 - 1] == .equal }),
            file[package + 1] == .openParen
        else { throw Refusal("\(name) has no plain Package(…)") }
        labels = Self.labels(of: package + 1, file)
        (targets, hasComputedTargets) = Self.targets(of: file, in: folder)
    }

    private static func labels(of open: Int, _ file: SourceFile) -> [String: Int] {
        var labels: [String: Int] = [:]
        var index = open + 1
        while index < file.partner(open) {
            switch file[index] {
            case .openParen, .openSquare, .openBrace: index = max(index, file.partner(index))
            default: if file[index + 1] == .colon, file.isWord(index) { labels[file.text(index)] = index }
            }
            index += 1
        }
        return labels
    }

    /// The targets that any expression of the manifest creates with a literal name and path, and whether it creates
    /// others. A list of dependencies has entries of the same form: `.target(name: "A")`.
    private static func targets(of file: SourceFile, in folder: String) -> ([Target], hasComputed: Bool) {
        let kinds = ["target", "executableTarget", "testTarget", "macro"]
        var targets: [Target] = []
        var hasComputed = false
        for index in file.tokens.indices {
            guard file[index - 1] == .dot, kinds.contains(file.text(index)), file[index + 1] == .openParen else {
                continue
            }
            let around = file.outlinedOpen(before: index - 1)
            if file.text(around - 2) == "dependencies", file[around - 1] == .colon { continue }
            let labels = Self.labels(of: index + 1, file)
            guard let name = labels["name"].flatMap({ literal(at: $0 + 2, file) }),
                let lists = literalLists(labels, file), labels["path"].map({ literal(at: $0 + 2, file) != nil }) ?? true
            else {
                hasComputed = true
                continue
            }
            let path = labels["path"].map { file.text($0 + 2) }
            targets.append(
                Target(
                    labels: labels,
                    folder: path.map(trimmed)
                        ?? conventionalFolder(name, isTest: file.text(index) == "testTarget", folder),
                    excluded: lists.excluded, sources: lists.sources))
        }
        return (targets, hasComputed)
    }

    /// The string at a token, if it is a whole argument or element.
    private static func literal(at index: Int, _ file: SourceFile) -> String? {
        let ends: [Term?] = [.comma, .closeParen, .closeSquare]
        return file.isString(index) && ends.contains(file[index + 1]) ? file.text(index) : nil
    }

    private static func trimmed(_ path: String) -> String {
        let path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The paths in a target's lists of excluded files, resources and sources; nil if one is computed.
    private static func literalLists(
        _ labels: [String: Int], _ file: SourceFile
    ) -> (excluded: [String], sources: [String])? {
        var lists: [String: [String]] = [:]
        for label in ["exclude", "resources", "sources"] {
            guard let list = labels[label] else { continue }
            guard file[list + 2] == .openSquare else { return nil }
            let close = file.partner(list + 2)
            guard file[close + 1] == .comma || file[close + 1] == .closeParen else { return nil }
            for index in list + 3..<max(list + 3, close) {
                switch file[index] {
                case .plus: return nil
                default: if file.isString(index) { lists[label, default: []].append(trimmed(file.text(index))) }
                }
            }
        }
        return ((lists["exclude"] ?? []) + (lists["resources"] ?? []), lists["sources"] ?? [])
    }

    /// The folder of a target without a path: the first of SwiftPM's folders that exists.
    private static func conventionalFolder(_ name: String, isTest: Bool, _ folder: String) -> String {
        let parents = (isTest ? ["Tests"] : []) + ["Sources", "Source", "src", "srcs"]
        let found = parents.first { FileManager.default.fileExists(atPath: "\(folder)/\($0)/\(name)") }
        return "\(found ?? parents[0])/\(name)"
    }

    // MARK: Facts

    private var toolsVersion: (major: Int, minor: Int) {
        let line = String(decoding: file.bytes.prefix { !Byte.isNewline($0) }, as: UTF8.self)
        let digits = line.drop { !$0.isNumber }.split { !$0.isNumber }.compactMap { Int($0) }
        return (digits.first ?? 3, digits.dropFirst().first ?? 0)
    }

    /// Whether any target may use the Swift 6 language mode.
    var mayUseSwift6: Bool {
        let words = Set(file.tokens.indices.map { file.text($0) })
        if words.contains("v6") || words.contains("6") && words.contains("swiftLanguageModes") { return true }
        let isOld = words.contains("v5") && !words.isDisjoint(with: ["swiftLanguageModes", "swiftLanguageVersions"])
        return toolsVersion.major >= 6 && !isOld
    }

    // MARK: Edits

    private func relative(_ path: String) -> String {
        let absolute = URL(filePath: path).standardizedFileURL.path
        return absolute.hasPrefix(folder + "/") ? String(absolute.dropFirst(folder.count + 1)) : absolute
    }

    /// The target that compiles a file. Throws if there is none.
    private func target(of path: String) throws(Refusal) -> Target {
        let relative = relative(path)
        // The deepest target owns the file, also if it excludes the file.
        let around = targets.filter { Target.isBelow($0.folder, relative) }
        let target = around.max { $0.folder.count < $1.folder.count }
        let inside = target.map {
            ["", "."].contains($0.folder) ? relative : String(relative.dropFirst($0.folder.count + 1))
        }
        guard let target, let inside, target.compiles(inside) else { throw Refusal("no target of \(name) compiles it") }
        return target
    }

    /// The name of the target that compiles a file. A computed target is expected in its conventional folder.
    func module(of path: String) -> String? {
        if let label = (try? target(of: path))?.labels["name"] {
            return String(file.text(label + 2).map { $0.isLetter || $0.isNumber ? $0 : "_" })
        }
        guard (try? checkTarget(of: path)) != nil else { return nil }
        return relative(path).split(separator: "/").dropFirst().first.map(String.init)
    }

    /// Throws if no target compiles a file. A computed target is expected in its conventional folder.
    func checkTarget(of path: String) throws(Refusal) {
        do {
            _ = try target(of: path)
        } catch {
            let parts = relative(path).split(separator: "/").map(String.init)
            let isConventional = parts.count > 2 && ["Sources", "Source", "Tests"].contains(parts[0])
            guard hasComputedTargets, isConventional,
                !targets.contains(where: { Target.isBelow($0.folder, relative(path)) })
            else { throw error }
            // Any string may exclude the file.
            let inside = parts.dropFirst(2).joined(separator: "/")
            let strings = file.tokens.indices.lazy.filter { file.isString($0) }.map { Self.trimmed(file.text($0)) }
            guard !strings.contains(where: { !$0.isEmpty && Target.isBelow($0, inside) }) else { throw error }
        }
    }

    /// The folders of the packages that the manifest names by their paths. Targets have paths, too.
    var packages: [String] {
        file.tokens.indices.filter { index in
            file.text(index) == "path" && file[index + 1] == .colon && file.isString(index + 2)
        }.map { URL(filePath: "\(folder)/\(file.text($0 + 2))").standardizedFileURL.path }
    }

    /// The tokens at which the entries of the list of platforms begin; nil if the manifest computes the list.
    private var platformEntries: [Int]? {
        let isChanged = file.tokens.indices.contains { file.text($0) == "platforms" && file[$0 - 1] == .dot }
        guard let list = labels["platforms"], file[list + 2] == .openSquare, !isChanged else { return nil }
        let close = file.partner(list + 2)
        let entries = (list + 3..<max(list + 3, close)).filter { index in
            file.outlinedOpen(before: index) == list + 2
                && (file[index - 1] == .openSquare || file[index - 1] == .comma)
        }
        let isWhole = file[close + 1] == .comma || file[close + 1] == .closeParen
        return isWhole && entries.allSatisfy { file[$0] == .dot && file[$0 + 2] == .openParen } ? entries : nil
    }

    /// The versions of the manifest's platforms. A package that does not name macOS is also built there.
    var platforms: Platforms {
        var platforms = Platforms()
        for entry in platformEntries ?? [] {
            let value = (entry + 3..<file.partner(entry + 2)).map { file.text($0) }.joined()
            platforms.state(file.text(entry + 1), Platforms.Version(value) ?? .unknown, in: name)
        }
        if platforms.systems.isEmpty { platforms.state("iOS", .unknown, in: name) }
        if !platforms.systems.contains("macOS") { platforms.state("macOS", Platforms.Version(10, 13), in: name) }
        return platforms
    }

    /// Adds the bridge to the targets of files. If `raisesPlatforms`, also raises the package's platforms to the minimum
    /// for `Mutex` and TaskOperations.
    func edits(bridgeFor paths: [String], raisesPlatforms: Bool) throws(Refusal) -> [Edit] {
        guard toolsVersion.major >= 5 else { throw Refusal("\(name) has a tools version before 5.0") }
        var edits = raisesPlatforms ? try platformEdits() : []
        var package: String?
        var done: Set<String> = []
        for path in paths {
            let target = try target(of: path)
            guard done.insert(target.folder).inserted else { continue }
            if let list = target.labels["dependencies"], file[list + 2] == .openSquare,
                (list..<file.partner(list + 2)).contains(where: { file.text($0) == "TaskOperationsBridge" })
            {
                continue
            }
            if package == nil { package = try addPackage(&edits) }
            let product = ".product(name: \"TaskOperationsBridge\", package: \"\(package!)\")"
            if let list = target.labels["dependencies"] {
                edits.append(try insertion(of: product, intoListAt: list + 2))
            } else {
                let behind = Int(file.tokens[target.labels["name"]! + 3].start)
                edits.append(Edit(range: behind..<behind, text: ", dependencies: [\(product)]"))
            }
        }
        return edits
    }

    /// Adds the package, and returns the name by which targets refer to it.
    private func addPackage(_ edits: inout [Edit]) throws(Refusal) -> String {
        let package = GuideText.package.standardizedFileURL.path
        let own = package.split(separator: "/").last.map(String.init) ?? ""
        for index in file.tokens.indices where file.isString(index) && ["url", "path"].contains(file.text(index - 2)) {
            let last = file.text(index).split(separator: "/").last.map(String.init) ?? ""
            let name = last.hasSuffix(".git") ? String(last.dropLast(4)) : last
            if name == own || name == "TaskOperations" { return name }
        }
        let entry = ".package(path: \"\(Self.relative(package, to: folder))\")"
        if let list = labels["dependencies"] {
            edits.append(try insertion(of: entry, intoListAt: list + 2))
        } else {
            edits.append(try insertion(ofArgument: "dependencies: [\(entry)]", before: ["targets"]))
        }
        return own
    }

    private static func relative(_ path: String, to folder: String) -> String {
        let (path, folder) = (path.split(separator: "/"), folder.split(separator: "/"))
        let common = zip(path, folder).prefix { $0 == $1 }.count
        guard common > 0 else { return "/" + path.joined(separator: "/") }
        return (Array(repeating: "..", count: folder.count - common) + path[common...]).joined(separator: "/")
    }

    private func insertion(of entry: String, intoListAt open: Int) throws(Refusal) -> Edit {
        guard file[open] == .openSquare else { throw Refusal("\(name) does not list its dependencies as a literal") }
        let end = Int(file.tokens[open].start) + 1
        if file[open + 1] == .closeSquare { return Edit(range: end..<end, text: entry) }
        guard file.isFirstOnLine(open + 1) else { return Edit(range: end..<end, text: "\(entry), ") }
        let indentation = file.indentation(ofLine: file.line(open + 1))
        return Edit(range: end..<end, text: "\n\(indentation)\(entry),")
    }

    /// Inserts an argument of `Package(…)` before the first existing argument of a list.
    private func insertion(ofArgument argument: String, before labels: [String]) throws(Refusal) -> Edit {
        guard let label = labels.compactMap({ self.labels[$0] }).min() else {
            throw Refusal("\(name) does not list its targets as a literal")
        }
        let start = Int(file.tokens[label].start)
        let line = file.isFirstOnLine(label) ? ",\n" + file.indentation(ofLine: file.line(label)) : ", "
        return Edit(range: start..<start, text: argument + line)
    }

    /// The oldest system versions that support `Mutex` and TaskOperations. A manifest without platforms gets all but
    /// Mac Catalyst, whose version follows from iOS.
    private static let floors: [(name: String, version: Int)] = [
        ("macOS", 15), ("iOS", 18), ("tvOS", 18), ("watchOS", 11), ("visionOS", 2), ("macCatalyst", 18),
    ]

    private func platformEdits() throws(Refusal) -> [Edit] {
        let tools = toolsVersion
        func version(_ number: Int) -> String { tools.major >= 6 ? ".v\(number)" : "\"\(number).0\"" }
        let floors = Self.floors.filter { $0.name != "visionOS" || (tools.major, tools.minor) >= (5, 9) }
        guard let list = labels["platforms"] else {
            let all = floors.dropLast().map { ".\($0.name)(\(version($0.version)))" }.joined(separator: ", ")
            let following = [
                "pkgConfig", "providers", "products", "traits", "dependencies", "targets",
            ]
            return [try insertion(ofArgument: "platforms: [\(all)]", before: following)]
        }
        guard platformEntries != nil else { throw Refusal("\(name) does not list its platforms as a literal") }
        var edits: [Edit] = []
        var missing: [String] = []
        for floor in floors {
            let entry = (list..<file.partner(list + 2)).first { file.text($0) == floor.name && file[$0 - 1] == .dot }
            guard let entry else {
                if floor.name == "macCatalyst" { continue }
                missing.append(".\(floor.name)(\(version(floor.version)))")
                continue
            }
            let close = file.partner(entry + 1)
            let value = (entry + 2..<close).map { file.text($0) }.joined()
            guard
                let number = value.drop(while: { !$0.isNumber }).split(whereSeparator: { !$0.isNumber }).first.flatMap({
                    Int($0)
                })
            else { throw Refusal("\(name) does not list its platforms as a literal") }
            if number < floor.version || floor.name == "macOS" && number == 10 {
                let range = Int(file.tokens[entry + 2].start)..<Int(file.tokens[close].start)
                edits.append(Edit(range: range, text: version(floor.version)))
            }
        }
        if !missing.isEmpty { edits.append(try insertion(of: missing.joined(separator: ", "), intoListAt: list + 2)) }
        return edits
    }
}

extension SourceFile {
    /// The innermost bracket that is open before a token.
    func outlinedOpen(before index: Int) -> Int {
        var position = index - 1
        while position > 0 {
            switch self[position] {
            case .openParen, .openSquare, .openBrace: return position
            case .closeParen, .closeSquare, .closeBrace: position = min(position, partner(position)) - 1
            default: position -= 1
            }
        }
        return 0
    }
}
