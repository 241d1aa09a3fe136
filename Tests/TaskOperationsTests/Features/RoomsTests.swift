import Foundation
import TestSupport
import Testing

@Suite("The rooms of the library", .inTurns)
struct RoomsTests {
    /// The rooms of each module. A room may refer to itself, to the rooms of later groups, and to the rooms of its own
    /// group.
    private static let modules = [
        "TaskOperations": [
            ["Policies"], ["Queue"], ["Running", "Synchronization", "Operation"], ["Scheduling"], ["Support"],
        ],
        "TaskOperationsExtras": [
            ["Capacity"], ["Groups"], ["Keys"], ["Repetition"], ["Progress"], ["Sequences"], ["Executors"],
            ["Callbacks"],
            ["Synchronization"], ["Support"],
        ],
    ]

    /// References in the opposite direction that are allowed: options begin timers and wrap bodies.
    private static let exceptions: [String: Set<String>] = [
        "Operation/AnyTaskOperation+Delay.swift": ["startNew"],
        "Operation/AnyTaskOperation+Options.swift": ["OperationTimers", "endPassed"],
        "Operation/OperationLinks.swift": ["OperationTimers"],
        "Operation/TaskOperation.swift": ["runWithPolicies"],
    ]

    /// Names of members that both a room and the standard library declare.
    private static let standardMembers: Set = [
        "cancel", "capacity", "compactMap", "contains", "current", "isCancelled", "removeFirst", "set",
    ]

    /// The modules of the package that each module may import.
    private static let imports: [String: Set<String>] = [
        "TaskOperations": [],
        "TaskOperationsExtras": ["TaskOperations"],
        "TaskOperationsBridge": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsDiagnosis": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsTracing": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsDeliveries": ["TaskOperations", "TaskOperationsExtras"],
        "TaskOperationsTesting": ["TaskOperations"],
    ]

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Sources").standardizedFileURL

    @Test("No source names a type or a member of a room in front of its own", arguments: modules.keys.sorted())
    func direction(module: String) throws {
        let rooms = Self.modules[module]!
        var sources: [Source] = []
        for (room, name) in rooms.enumerated().flatMap({ room, names in names.map { (room, $0) } }) {
            sources += try Self.sources(of: "\(module)/\(name)").map {
                Source(room: room, path: "\(name)/\($0)", code: $1)
            }
        }
        let types = Self.rooms(of: sources, \.types)
        let members = Self.rooms(of: sources, \.members)
        let names = Self.rooms(of: sources, \.names)
        for source in sources {
            let named = source.words.filter { (types[$0]?.max() ?? .max) < source.room }
            let used = source.usedMembers.filter { (members[$0]?.max() ?? .max) < source.room }
                .filter { (names[$0]?.max() ?? -1) < source.room }.subtracting(Self.standardMembers)
            let found = named.union(used)
            let exceptions = module == "TaskOperations" ? Self.exceptions[source.path] ?? [] : []
            #expect(found == exceptions, "\(source.path) names \(found.sorted()), not only \(exceptions.sorted())")
        }
        #expect(Set(sources.map(\.room)).count == rooms.count, "each room has sources")
        #expect(types.count > 20 && members.count > 50, "types and members are found")
    }

    @Test("Every folder of sources is a room", arguments: modules.keys.sorted())
    func folders(module: String) throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: module).path)
        #expect(folders.filter { !$0.hasSuffix(".docc") }.sorted() == Self.modules[module]!.joined().sorted())
    }

    @Test("No module imports one that does not belong below it", arguments: imports.keys.sorted())
    func moduleImports(module: String) throws {
        for (path, code) in try Self.sources(of: module) {
            let imported = code.matches(of: /(?m)^ *[^\n]*\bimport (\w+)$/).map { String($0.1) }
            let found = Set(imported).filter { $0.hasPrefix("TaskOperations") }.subtracting(Self.imports[module]!)
            #expect(found.isEmpty, "\(module)/\(path) imports \(found.sorted())")
        }
    }
}

// MARK: - Sources

extension RoomsTests {
    private struct Source {
        let room: Int
        let path: String
        let code: String

        /// The declared types except nested ones, because several files declare nested types of the same name.
        var types: [String] {
            code.matches(
                of:
                    /(?m)^(?:(?:public|package|private|fileprivate|final|indirect) )*(?:class|struct|enum|protocol|actor|typealias) (\w+)/
            )
            .filter { !$0.0.contains("private") }
            .map { String($0.1) }
        }

        /// The functions and properties of types that other files can use.
        var members: [String] {
            code.matches(
                of:
                    /(?m)^    (?:(?:public|package|static|class|nonisolated|mutating|final|override) )*(?:func|var) (\w+)/
            )
            .map { String($0.1) }
        }

        /// The names of all declarations and parameters.
        var names: [String] {
            code.matches(of: /\b(?:func|var|let|case|enum|struct|class) (\w+)|(\w+):/).map { String($0.1 ?? $0.2!) }
        }

        var words: Set<String> { Set(code.matches(of: /\w+/).map { String($0.0) }) }

        var usedMembers: Set<String> { Set(code.matches(of: /\.(\w+)/).map { String($0.1) }) }
    }

    /// Returns the rooms that declare each name.
    private static func rooms(of sources: [Source], _ names: (Source) -> [String]) -> [String: Set<Int>] {
        sources.reduce(into: [:]) { rooms, source in
            for name in names(source) { rooms[name, default: []].insert(source.room) }
        }
    }

    /// Returns the code of the files in a folder, without comments and strings.
    private static func sources(of path: String) throws -> [String: String] {
        let folder = folder.appending(path: path)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: paths.filter { $0.hasSuffix(".swift") }.map { path in
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                let code = text.split(separator: "\n").map { line in
                    String(line.replacing(#/\/\/.*/#, with: "").replacing(#/"[^"]*"/#, with: ""))
                }
                return (path, code.joined(separator: "\n"))
            })
    }
}
