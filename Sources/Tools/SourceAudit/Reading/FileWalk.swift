import Foundation

/// A file or folder that could not be read, or was skipped.
public struct Note: Sendable, Codable, Equatable {
    public let path: String
    public let message: String
}

/// Finds the source files below some paths, sorted by name.
struct FileWalk {
    /// Folders that are skipped. Their files are generated or belong to other projects.
    static let skipped: Set<String> = [
        ".build", ".git", "Pods", "Carthage", "checkouts", "DerivedData", "node_modules", ".swiftpm", "vendor",
    ]
    /// Bundles that are skipped: documentation, and the headers of compiled libraries.
    private static let skippedBundles = [".docc", ".framework", ".xcframework"]

    /// The message for a given path that does not exist.
    static let missing = "is not there, or cannot be looked at"
    /// The messages for existing sources that were not read.
    static let unreadFile = "cannot be read"
    static let unreadFolder = "a folder that cannot be read"
    static let unseenFile = "cannot be looked at"
    static let hugeFile = "has more than 4 GB"
    static let utf16File = "is UTF-16, which is not read: save it as UTF-8"
    static let binaryFile = "is binary, which is not read"
    static let generatedFile = "is generated, and is not read: change its source"
    static let unread: Set = [missing, unreadFile, unreadFolder, unseenFile, hugeFile, utf16File]

    private(set) var paths: [String] = []
    private(set) var notes: [Note] = []

    private let excluded: Set<String>

    /// - Parameter excluded: Names, or paths that begin with a root.
    init(_ roots: [String], excluded: [String] = []) {
        self.excluded = Set(excluded.map(Self.normalized))
        for root in roots { walk(root) }
        var seen: Set<String> = []
        paths = paths.filter { seen.insert($0).inserted }
    }

    private mutating func walk(_ root: String) {
        guard let type = Self.type(of: URL(filePath: root).resolvingSymlinksInPath().path) else {
            notes.append(Note(path: root, message: Self.missing))
            return
        }
        var waiting = [(path: Self.normalized(root), isFolder: type == .typeDirectory)]
        while let (path, isFolder) = waiting.popLast() {
            if !isFolder {
                paths.append(path)
                continue
            }
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path.isEmpty ? "." : path) else {
                notes.append(Note(path: path, message: Self.unreadFolder))
                continue
            }
            for name in names.sorted().reversed() where !Self.skipped.contains(name) {
                if Self.skippedBundles.contains(where: name.hasSuffix) { continue }
                let child = path.isEmpty ? name : path.hasSuffix("/") ? path + name : path + "/" + name
                look(at: child, name, &waiting)
            }
        }
    }

    private mutating func look(at path: String, _ name: String, _ waiting: inout [(path: String, isFolder: Bool)]) {
        guard !excluded.contains(name), !excluded.contains(path) else { return }
        let isSource = [".swift", ".m", ".mm", ".h"].contains { name.hasSuffix($0) }
        switch Self.type(of: path) {
        case .typeDirectory: waiting.append((path, true))
        case .typeRegular: if isSource { waiting.append((path, false)) }
        case .typeSymbolicLink: notes.append(Note(path: path, message: "a link, which is not followed"))
        case nil: if isSource { notes.append(Note(path: path, message: Self.unseenFile)) }
        default: if isSource { notes.append(Note(path: path, message: "no regular file")) }
        }
    }

    /// The type of the file at a path. A link has its own type, not that of its target.
    private static func type(of path: String) -> FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    /// The path without a leading `./`, and relative to the current folder if it is below that folder.
    private static func normalized(_ root: String) -> String {
        var path = root
        let current = FileManager.default.currentDirectoryPath
        if path == current || path == "." || path == "./" { return "" }
        if path.hasPrefix(current + "/") { path.removeFirst(current.count + 1) }
        while path.hasPrefix("./") { path.removeFirst(2) }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
