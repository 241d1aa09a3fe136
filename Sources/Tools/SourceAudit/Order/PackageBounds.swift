import Foundation

/// Determines which files can use which other files, from manifests and folders: a file can use its own package and the
/// local packages on which the package depends.
struct PackageBounds {
    /// The folder of each file's package; nil without a package.
    private var packages: [String?] = []
    /// The folders of the local packages that a package can use.
    private var reachable: [String: Set<String>] = [:]

    init(_ paths: [String]) {
        let repository = RepositoryPaths()
        var known: [String: String?] = [:]
        packages = paths.map { path in
            let folder = URL(filePath: repository.absolute(path)).deletingLastPathComponent().path
            return Self.package(of: folder, &known)
        }
        for package in Set(packages.compactMap(\.self)) { reach(package) }
    }

    private static func package(of folder: String, _ known: inout [String: String?]) -> String? {
        if let package = known[folder] { return package }
        let package: String?
        if FileManager.default.fileExists(atPath: folder + "/Package.swift") {
            package = folder
        } else {
            let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
            package = parent.isEmpty ? nil : Self.package(of: parent, &known)
        }
        known[folder] = .some(package)
        return package
    }

    private mutating func reach(_ package: String) {
        var found: Set<String> = []
        var waiting = [package]
        while let next = waiting.popLast() {
            guard found.insert(next).inserted else { continue }
            waiting += Self.dependencies(of: next)
        }
        reachable[package] = found
    }

    /// The folders that a manifest names by `path:` in its dependencies.
    private static func dependencies(of package: String) -> [String] {
        guard let data = FileManager.default.contents(atPath: package + "/Package.swift") else { return [] }
        let file = SourceFile(path: "Package.swift", number: 0, bytes: [UInt8](data), vocabulary: Vocabulary())
        return file.tokens.indices.compactMap { index in
            guard file.text(index) == "path", file[index + 1] == .colon, file.isString(index + 2) else { return nil }
            return URL(filePath: package + "/" + file.text(index + 2)).standardizedFileURL.path
        }
    }

    func allow(_ file: Int, toUse other: Int) -> Bool {
        guard let package = packages[file], let used = packages[other] else { return packages[file] == nil }
        return package == used || reachable[package]?.contains(used) == true
    }
}
