import Foundation
import Testing

@Suite("The rooms of the library")
struct RoomsTests {
    private static let sources = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Sources").standardizedFileURL

    /// The modules of the package that each module may import.
    private static let imports: [String: Set<String>] = [
        "TaskOperations": [],
        "TaskOperationsExtras": ["TaskOperations"],
        "TaskOperationsBridge": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsDiagnosis": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsDeliveries": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsTesting": ["TaskOperations", "TaskOperationsDeliveries", "TaskOperationsDiagnosis"],
        "TaskDump": [],
    ]

    @Test("No module imports one that does not belong below it", arguments: imports.keys.sorted())
    func moduleImports(module: String) throws {
        for (path, code) in try Self.code(of: module) {
            let imported = code.matches(of: /(?m)^ *[^\n]*\bimport (TaskOperations\w*)$/).map { String($0.1) }
            #expect(Set(imported).subtracting(Self.imports[module]!) == [], "\(path)")
        }
    }

    @Test("No source of Support names a type of another room")
    func support() throws {
        let declaration = /(?m)^(?:(?:public|package|final) )*(?:class|struct|enum|protocol|actor) (\w+)/
        let others = try ["API", "Kernel", "Graph", "Capacity", "Policies"].flatMap { room in
            try Self.code(of: "TaskOperations/\(room)").values.flatMap { code in
                code.matches(of: declaration).map { String($0.1) }
            }
        }
        #expect(others.count > 60)
        for (path, code) in try Self.code(of: "TaskOperations/Support") {
            let words = Set(code.matches(of: /\w+/).map { String($0.0) })
            #expect(words.intersection(others) == [], "\(path)")
        }
    }

    @Test("Every source that the article on architecture names exists")
    func namedSources() throws {
        let package = Self.sources.deletingLastPathComponent()
        let paths = try ["Sources", "Tests"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: package.appending(path: folder).path)
        }
        let present = Set(paths.map { URL(filePath: $0).lastPathComponent })
        let article = try String(
            contentsOf: Self.sources.appending(path: "TaskOperations/TaskOperations.docc/Architecture.md"),
            encoding: .utf8)
        let named = Set(article.matches(of: /[\w+]+\.swift\b/).map { String($0.0) })
        #expect(named.count > 20)
        #expect(named.subtracting(present) == [])
    }

    /// The code of the files in a folder, without comments and strings.
    private static func code(of path: String) throws -> [String: String] {
        let folder = sources.appending(path: path)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try Dictionary(
            uniqueKeysWithValues: paths.map { path in
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                return (path, text.replacing(#/\/\/[^\n]*/#, with: "").replacing(#/"[^"\n]*"/#, with: ""))
            })
    }
}
