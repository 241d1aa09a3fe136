import Foundation

/// The parts of a package manifest that rewrites read or change.
struct Manifest {
    /// The folder of the manifest. `name` is the name of the file in that folder.
    let folder: String
    private let name: String
    private let file: SourceFile
    /// The labels of `Package(…)`, with the token of each.
    private let labels: [String: Int]
    private let targets: [Target]

    private struct Target {
        /// The labels of the target's arguments, with the token of each.
        let labels: [String: Int]
        let isTest: Bool
        /// The path of the target's folder, relative to the manifest.
        let folder: String
    }

    /// The manifests of the package that contains a file: the general one, and those for single Swift versions.
    static func near(_ path: String) throws(Refusal) -> [Manifest] {
        var folder = URL(filePath: path).standardizedFileURL.deletingLastPathComponent()
        while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
            guard folder.path != "/" else { throw Refusal("no Package.swift states its platforms") }
            folder.deleteLastPathComponent()
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var manifests: [Manifest] = []
        for name in names.sorted() where name == "Package.swift" || name.hasPrefix("Package@swift-") {
            guard let data = FileManager.default.contents(atPath: "\(folder.path)/\(name)") else {
                throw Refusal("\(name) cannot be read")
            }
            let manifest = try Manifest(folder: folder.path, name: name, bytes: [UInt8](data))
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
        targets = Self.targets(labels, file)
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

    private static func targets(_ labels: [String: Int], _ file: SourceFile) -> [Target] {
        guard let list = labels["targets"], file[list + 2] == .openSquare else { return [] }
        let kinds = ["target", "executableTarget", "testTarget", "macro"]
        return (list + 3..<max(list + 3, file.partner(list + 2))).compactMap { index in
            guard file[index - 1] == .dot, kinds.contains(file.text(index)), file[index + 1] == .openParen else {
                return nil
            }
            // A dependency has the same form: `.target(name: "A")`.
            guard file[file.outlinedOpen(before: index - 1) - 1] == .colon,
                file.outlinedOpen(before: index - 1) == list + 2
            else { return nil }
            let labels = Self.labels(of: index + 1, file)
            guard let name = labels["name"], file.isString(name + 2) else { return nil }
            let isTest = file.text(index) == "testTarget"
            let folder = labels["path"].map { file.text($0 + 2) }
            return Target(
                labels: labels, isTest: isTest, folder: folder ?? (isTest ? "Tests/" : "Sources/") + file.text(name + 2)
            )
        }
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

    /// The targets of files. Throws if a file belongs to no target.
    private func target(of path: String) throws(Refusal) -> Target {
        let absolute = URL(filePath: path).standardizedFileURL.path
        let relative = absolute.hasPrefix(folder + "/") ? String(absolute.dropFirst(folder.count + 1)) : absolute
        let fitting = targets.filter { target in
            ["", "."].contains(target.folder) || relative.hasPrefix(target.folder + "/")
        }
        guard let target = fitting.max(by: { $0.folder.count < $1.folder.count }) else {
            throw Refusal("\(name) declares no target for its folder")
        }
        return target
    }

    /// Raises the package's platforms to the minimum for `Mutex` and TaskOperations, and adds the bridge to the targets
    /// of files.
    func edits(bridgeFor paths: [String]) throws(Refusal) -> [Edit] {
        guard toolsVersion.major >= 5 else { throw Refusal("\(name) has a tools version before 5.0") }
        var edits = try platformEdits()
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
        guard file[list + 2] == .openSquare else { throw Refusal("\(name) does not list its platforms as a literal") }
        let entries = (list + 3..<file.partner(list + 2)).filter { index in
            file.outlinedOpen(before: index) == list + 2
                && (file[index - 1] == .openSquare || file[index - 1] == .comma)
        }
        guard entries.allSatisfy({ file[$0] == .dot }) else {
            throw Refusal("\(name) does not list its platforms as a literal")
        }
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
