import Foundation

// The checks of .ci/docs. Each prints its findings and exits with 1 if there are any.

struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Text: Decodable {}
        struct Location: Decodable { let uri: String }

        let kind: Kind
        let pathComponents: [String]
        let docComment: Text?
        let location: Location?
    }

    let symbols: [Symbol]
}

/// Public symbols without documentation. The compiler creates symbols without a location.
func undocumented(in paths: [String]) throws -> [String] {
    try paths.flatMap { path in
        let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: URL(filePath: path)))
        let symbols = graph.symbols.filter { $0.location != nil && $0.kind.identifier != "swift.extension" }
        print("\(URL(filePath: path).lastPathComponent): \(symbols.count) public symbols")
        return symbols.filter { $0.docComment == nil }.map {
            "\($0.location!.uri): \($0.pathComponents.joined(separator: ".")) has no documentation"
        }
    }
}

/// Pages on which DocC had to create a topic group, because no group names a symbol. A type with few
/// members needs no groups.
func ungrouped(in folder: String) throws -> [String] {
    struct Page: Decodable {
        struct Group: Decodable {
            let title: String?
            let identifiers: [String]
            let generated: Bool?
        }
        struct Metadata: Decodable { let role: String? }

        let metadata: Metadata
        let topicSections: [Group]?
    }

    let limit = 24
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".json") && $0.contains("/data/documentation/")
    }
    return try paths.sorted().flatMap { path -> [String] in
        let page = try JSONDecoder().decode(Page.self, from: Data(contentsOf: URL(filePath: "\(folder)/\(path)")))
        let groups = page.topicSections ?? []
        let created = groups.filter { $0.generated == true && !($0.title?.hasSuffix("Implementations") ?? false) }
        let members = created.flatMap(\.identifiers)
        let hasGroups = groups.contains { $0.generated != true }
        guard page.metadata.role == "collection" || hasGroups || members.count > limit else {
            return []
        }
        return members.map { "\(path): no topic group names \($0)" }
    }
}

/// Writes each Swift block of the articles as a function into a file of its own. Blocks after `<!-- not compiled: … -->`
/// are left out; a block after `<!-- continued -->` belongs to the one before it. In a table with a column `right`, the
/// last cell of each row is a block.
func writeSnippets(of paths: [String], into folder: String) throws {
    for path in paths {
        var blocks: [[Substring]] = []
        var current: [Substring]?
        var isContinued = false
        var isLeftOut = false
        var isTableOfForms = false
        for line in try String(contentsOf: URL(filePath: path), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("<!-- not compiled") || line.hasPrefix("<!-- Ported/") || line.hasPrefix("<!-- Legacy/") {
                isLeftOut = true
            } else if line.hasPrefix("<!-- continued") {
                isContinued = true
            } else if line == "```swift" {
                current = []
            } else if line.hasPrefix("```"), let block = current {
                if isContinued, !blocks.isEmpty {
                    blocks[blocks.count - 1] += block
                } else if !isLeftOut {
                    blocks.append(block)
                }
                (current, isContinued, isLeftOut) = (nil, false, false)
            } else if current != nil {
                current?.append(line)
            } else if line.hasPrefix("|") {
                if line.hasSuffix("| right |") { isTableOfForms = true }
                if isTableOfForms, line.hasSuffix("` |"), let start = line.dropLast(3).lastIndex(of: "`") {
                    blocks.append([line[line.index(after: start)...].dropLast(3)])
                }
            } else {
                isTableOfForms = false
            }
        }
        let name = String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        for (number, block) in blocks.enumerated() {
            let imports = block.filter { $0.hasPrefix("import ") }
            let code = block.filter { !$0.hasPrefix("import ") }
            let standard = [
                "TaskOperations", "TaskOperationsExtras", "TaskOperationsBridge", "TaskOperationsDiagnosis",
                "TaskOperationsDeliveries", "TaskOperationsTesting", "Foundation", "Dispatch", "Synchronization", "Testing",
            ].map { "import \($0)" }
            let lines =
                standard + imports.map(String.init) + ["func \(name)_\(number)() async throws {"]
                + code.map(String.init) + ["}"]
            try lines.joined(separator: "\n").write(
                toFile: "\(folder)/\(name)_\(number).swift", atomically: true, encoding: .utf8)
        }
        if !blocks.isEmpty { print("\(path): \(blocks.count) snippets") }
    }
}

/// Writes the first Swift block of a document into a file as it is.
func writeProgram(of path: String, to file: String) throws {
    let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    guard let block = text.firstMatch(of: #/(?s)```swift\n(.*?)```/#) else { fatalError("\(path) has no Swift block") }
    try String(block.1).write(toFile: file, atomically: true, encoding: .utf8)
}

/// Adds the code of both sides behind each diff of the pages in a folder.
func addSides(to folder: String) throws {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
    for path in paths {
        let text = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
        let complete = text.replacing(#/(?s)```diff\n(.*?)\n```/#) { diff -> String in
            let lines = diff.1.split(separator: "\n", omittingEmptySubsequences: false)
            let sides = [("Before", "+"), ("After", "-")].map { title, other -> String in
                let code = lines.filter { !$0.hasPrefix(other) }.map { String($0.dropFirst()) }
                return "\(title):\n\n```swift\n\(code.joined(separator: "\n"))\n```"
            }
            return ([String(diff.0)] + sides).joined(separator: "\n\n")
        }
        try complete.write(toFile: "\(folder)/\(path)", atomically: true, encoding: .utf8)
    }
    print("\(folder): \(paths.count) pages")
}

let arguments = CommandLine.arguments.dropFirst()
let findings: [String]
switch arguments.first {
case "symbols": findings = try undocumented(in: Array(arguments.dropFirst()))
case "groups": findings = try ungrouped(in: arguments.last!)
case "program":
    try writeProgram(of: arguments.dropFirst().first!, to: arguments.last!)
    findings = []
case "sides":
    try addSides(to: arguments.last!)
    findings = []
default:
    try writeSnippets(of: Array(arguments.dropFirst(2)), into: arguments.dropFirst().first!)
    findings = []
}
for finding in findings { print(finding) }
exit(findings.isEmpty ? 0 : 1)
