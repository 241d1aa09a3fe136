import Foundation

/// The modules that the files of a code base belong to, by manifests and Xcode projects.
struct Modules {
    /// The name of the module of all files without a known target.
    static let unknown = "Own"

    private let names: [Set<String>]

    init(_ paths: [String]) {
        var folders = ProjectFolders()
        names = paths.map { folders.modules(of: URL(filePath: $0).standardizedFileURL.path) }
    }

    /// The modules of a file, which is a source of several targets if it has several.
    func names(of file: Int) -> Set<String> { names.indices.contains(file) ? names[file] : [Self.unknown] }
}

/// The manifests and Xcode projects of folders. Each is read once.
private struct ProjectFolders {
    private var known: [String: (manifests: [Manifest], projects: [XcodeProject])] = [:]

    mutating func modules(of path: String) -> Set<String> {
        var folder = URL(filePath: path).deletingLastPathComponent().path
        while folder.count > 1 {
            let (manifests, projects) = projects(in: folder)
            var names = Set(projects.flatMap { $0.modules(compiling: path) })
            for manifest in manifests { if let name = manifest.module(of: path) { names.insert(name) } }
            if !names.isEmpty { return names }
            folder = URL(filePath: folder).deletingLastPathComponent().path
        }
        return [Modules.unknown]
    }

    private mutating func projects(in folder: String) -> (manifests: [Manifest], projects: [XcodeProject]) {
        if let known = known[folder] { return known }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let projects = names.filter { $0.hasSuffix(".xcodeproj") }.compactMap { XcodeProject(folder: folder, name: $0) }
        let found = ((try? Manifest.all(in: folder)) ?? [], projects)
        known[folder] = found
        return found
    }
}
