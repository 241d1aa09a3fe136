import Foundation
import TaskOperationsExpectations
import Testing

@Suite("The rooms of the library", .inTurns)
struct RoomsTests {
    /// Each may refer to itself and to those behind it.
    private static let rooms = [
        "Sequences", "Observation", "Queue", "Running", "Operation", "Scheduling", "Support",
    ]

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Sources/TaskOperations").standardizedFileURL

    @Test("No source names a type of a room in front of its own")
    func direction() throws {
        var named: [(room: Int, types: Set<String>, words: [String: Set<String>])] = []
        for (number, room) in Self.rooms.enumerated() {
            let sources = try Self.sources(of: room)
            let types = Set(sources.values.flatMap(Self.declaredTypes))
            named.append((number, types, sources.mapValues { Set(Self.words(of: $0)) }))
        }
        for room in named {
            let forbidden = named[..<room.room].reduce(into: Set<String>()) { $0.formUnion($1.types) }
                .subtracting(named[room.room...].flatMap(\.types))
            for (file, words) in room.words {
                let found = words.intersection(forbidden).sorted()
                #expect(found.isEmpty, "\(Self.rooms[room.room])/\(file) names \(found)")
            }
        }
        #expect(named.allSatisfy { !$0.types.isEmpty } && named.flatMap(\.types).count > 50, "types are found")
    }

    /// The code of a room's files, without comments and strings.
    private static func sources(of room: String) throws -> [String: String] {
        let folder = folder.appending(path: room)
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

    private static func declaredTypes(of code: String) -> [String] {
        // Not nested ones, whose names are alike in many places.
        code.matches(
            of:
                /(?m)^(?:(?:public|package|private|fileprivate|final|indirect) )*(?:class|struct|enum|protocol|actor|typealias) (\w+)/
        )
        .filter { !$0.0.contains("private") }
        .map { String($0.1) }
    }

    private static func words(of code: String) -> [String] {
        code.matches(of: /\w+/).map { String($0.0) }
    }
}
