import Foundation

/// Determines which targets the compiler already checks strictly, from manifests and Xcode projects.
struct Targets {
    /// Folders, each with whether the compiler checks its files, and whether it isolates all of them to the main actor.
    /// The longest prefix of a path applies.
    private var folders: [(path: String, isChecked: Bool, isIsolated: Bool)] = []

    /// Reads the manifests and projects in the folders of some paths and in their parent folders.
    init(_ paths: [String]) {
        var seen: Set<String> = []
        for path in paths {
            var folder = URL(filePath: path).standardizedFileURL.deletingLastPathComponent().path
            while seen.insert(folder).inserted, folder.count > 1 {
                read(folder)
                folder = URL(filePath: folder).deletingLastPathComponent().path
            }
        }
        folders.sort { $0.path.count > $1.path.count }
    }

    /// Whether a file's target uses the language mode 6, or is isolated to the main actor as a whole.
    func isChecked(_ path: String) -> Bool { folder(of: path)?.isChecked ?? false }

    /// Whether all code of a file's target is isolated to the main actor by default.
    func isIsolated(_ path: String) -> Bool { folder(of: path)?.isIsolated ?? false }

    private func folder(of path: String) -> (path: String, isChecked: Bool, isIsolated: Bool)? {
        let path = URL(filePath: path).standardizedFileURL.path
        return folders.first { path.hasPrefix($0.path + "/") }
    }

    private mutating func read(_ folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let projects = names.filter { $0.hasSuffix(".xcodeproj") }
        if let text = Self.text(folder + "/Package.swift") { read(manifest: text, folder, isAlone: projects.isEmpty) }
        for name in projects {
            guard let text = Self.text("\(folder)/\(name)/project.pbxproj") else { continue }
            let versions = text.matches(of: #/SWIFT_VERSION = ([\d.]+);/#).map { $0.1 }
            let isChecked = !versions.isEmpty && versions.allSatisfy { $0.hasPrefix("6") }
            folders.append((folder, isChecked, text.contains("SWIFT_DEFAULT_ACTOR_ISOLATION = MainActor")))
        }
    }

    /// - Parameter isAlone: Whether no project is beside the manifest. Otherwise, the manifest applies to the sources
    ///   of its targets, and the project to all others.
    private mutating func read(manifest text: String, _ folder: String, isAlone: Bool) {
        let major = text.firstMatch(of: #/swift-tools-version:\s*(\d+)/#).flatMap { Int($0.1) } ?? 5
        let isOld = text.contains(#/(?:swiftLanguageModes|swiftLanguageVersions):\s*\[\s*\.(?:v4|v5|version\("[45])/#)
        let isNew = text.contains(#/swiftLanguage(?:Modes|Versions):\s*\[\s*\.(?:v6|version\("6)/#)
        let isChecked = isNew || major >= 6 && !isOld
        if isAlone { folders.append((folder, isChecked, false)) }
        // A target can override the setting.
        for part in text.split(separator: #/\.(?:target|executableTarget|testTarget|macro)\(/#).dropFirst() {
            guard let name = part.firstMatch(of: #/name:\s*"([^"]+)"/#)?.1 else { continue }
            let mode = part.firstMatch(of: #/swiftLanguageMode\(\s*\.v(\d)/#)?.1
            let isIsolated = part.contains("defaultIsolation(MainActor")
            guard mode != nil || isIsolated || !isAlone else { continue }
            let path = part.firstMatch(of: #/path:\s*"([^"]+)"/#).map { String($0.1) }
            let isOwn = mode.map { $0 == "6" } ?? (isIsolated || isChecked)
            for place in path.map({ [$0] }) ?? ["Sources/\(name)", "Tests/\(name)"] {
                folders.append(("\(folder)/\(place)", isOwn, isIsolated))
            }
        }
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
