import Foundation

/// Converts paths to paths relative to the root of their repository, which do not depend on the current folder.
///
/// The root is the nearest folder with `.git`, or else the nearest folder with a manifest. Without a root, a path does
/// not change.
struct RepositoryPaths {
    private var roots: [String: String?] = [:]
    private let current = FileManager.default.currentDirectoryPath

    func absolute(_ path: String) -> String {
        URL(filePath: path.hasPrefix("/") ? path : current + "/" + path).standardizedFileURL.path
    }

    /// The root of the repository that a file is in, nil if there is none.
    mutating func root(of path: String) -> String? {
        let absolute = absolute(path)
        return root(ofFolder: String(absolute[..<(absolute.lastIndex(of: "/") ?? absolute.startIndex)]))
    }

    private mutating func root(ofFolder folder: String) -> String? {
        if let known = roots[folder] { return known }
        let root = find(from: folder, ".git") ?? find(from: folder, "Package.swift")
        roots[folder] = .some(root)
        return root
    }

    private func find(from folder: String, _ name: String) -> String? {
        var folder = folder
        while !folder.isEmpty {
            if FileManager.default.fileExists(atPath: "\(folder)/\(name)") { return folder }
            folder = String(folder[..<folder.lastIndex(of: "/")!])
        }
        return nil
    }

    mutating func relative(_ path: String) -> String {
        guard let root = root(of: path) else { return path }
        return String(absolute(path).dropFirst(root.count + 1))
    }
}
