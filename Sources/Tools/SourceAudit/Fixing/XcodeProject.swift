import Foundation

/// The targets of an Xcode project that compile each file, with their deployment targets.
struct XcodeProject {
    /// The settings of a target in one configuration.
    private typealias Settings = [String: String]

    let name: String
    /// Whether the project names the bridge as a product of a package.
    let hasBridge: Bool
    private let folder: String
    private let objects: [String: [String: Any]]
    /// The targets that compile each file, by its path.
    private var targets: [String: Set<String>] = [:]
    /// Folders whose files a target compiles, without the excluded files.
    private var folders: [(path: String, target: String, excluded: Set<String>)] = []
    private let settings: [String: [Settings]]
    /// The paths that may be the folders of local packages.
    let packages: Set<String>

    /// Reads `Name.xcodeproj` in a folder; nil if the project cannot be read.
    init?(folder: String, name: String) {
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)/project.pbxproj"),
            let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let root = list as? [String: Any], let objects = root["objects"] as? [String: [String: Any]],
            let project = (root["rootObject"] as? String).flatMap({ objects[$0] })
        else { return nil }
        (self.folder, self.name, self.objects) = (folder, name, objects)
        hasBridge = objects.values.contains { $0["productName"] as? String == "TaskOperationsBridge" }
        let top = (project["projectDirPath"] as? String).map { Self.join(folder, $0) } ?? folder
        let paths = Self.paths(of: project["mainGroup"] as? String ?? "", at: top, top, objects)
        let references = paths.filter { objects[$0.key]?["isa"] as? String == "PBXFileReference" }.map(\.value)
        let packages = objects.values.filter { $0["isa"] as? String == "XCLocalSwiftPackageReference" }
        self.packages = Set(
            references + packages.compactMap { ($0["relativePath"] as? String).map { Self.join(folder, $0) } })
        var settings: [String: [Settings]] = [:]
        let base = Self.configurations(project, paths, objects)
        for target in project["targets"] as? [String] ?? [] {
            guard let object = objects[target] else { continue }
            settings[target] = Self.configurations(object, paths, objects).map { name, own in
                (base[name] ?? [:]).merging(own) { inherited, own in own == "$(inherited)" ? inherited : own }
            }
        }
        self.settings = settings
        for target in settings.keys { readSources(of: target, paths) }
    }

    // MARK: Structure

    private static func join(_ folder: String, _ path: String) -> String {
        path.isEmpty ? folder : URL(filePath: path.hasPrefix("/") ? path : "\(folder)/\(path)").standardizedFileURL.path
    }

    /// The paths of all files and folders of a group, by the identifiers of their references.
    private static func paths(
        of group: String, at folder: String, _ top: String, _ objects: [String: [String: Any]]
    ) -> [String: String] {
        var paths: [String: String] = [:]
        var waiting = [(group, folder)]
        while let (id, parent) = waiting.popLast() {
            guard paths[id] == nil, let object = objects[id] else { continue }
            let isRelative = object["sourceTree"] as? String == "<group>"
            let path = join(isRelative ? parent : top, object["path"] as? String ?? "")
            paths[id] = path
            waiting += (object["children"] as? [String] ?? []).map { ($0, path) }
        }
        return paths
    }

    private mutating func readSources(of target: String, _ paths: [String: String]) {
        guard let object = objects[target] else { return }
        for phase in object["buildPhases"] as? [String] ?? [] {
            guard let phase = objects[phase], phase["isa"] as? String == "PBXSourcesBuildPhase" else { continue }
            for file in phase["files"] as? [String] ?? [] {
                guard let reference = objects[file]?["fileRef"] as? String, let path = paths[reference] else {
                    continue
                }
                targets[path, default: []].insert(target)
            }
        }
        for group in object["fileSystemSynchronizedGroups"] as? [String] ?? [] {
            guard let path = paths[group] else { continue }
            let exceptions = (objects[group]?["exceptions"] as? [String] ?? []).compactMap { objects[$0] }
            let own = exceptions.filter { $0["target"] as? String == target }
            let names = own.flatMap { $0["membershipExceptions"] as? [String] ?? [] }
            folders.append((path, target, Set(names.map { Self.join(path, $0) })))
        }
    }

    // MARK: Settings

    /// The settings of each configuration of a target or project, with those of its configuration file.
    private static func configurations(
        _ object: [String: Any], _ paths: [String: String], _ objects: [String: [String: Any]]
    ) -> [String: Settings] {
        let list = (object["buildConfigurationList"] as? String).flatMap { objects[$0] }
        var result: [String: Settings] = [:]
        for configuration in (list?["buildConfigurations"] as? [String] ?? []).compactMap({ objects[$0] }) {
            let file = (configuration["baseConfigurationReference"] as? String).flatMap { paths[$0] }
            let own = (configuration["buildSettings"] as? [String: Any] ?? [:]).compactMapValues { $0 as? String }
            let name = configuration["name"] as? String ?? ""
            result[name] = file.map { configurationFile($0) }?.merging(own) { $1 } ?? own
        }
        return result
    }

    private static func configurationFile(_ path: String, depth: Int = 0) -> Settings {
        guard depth < 8, let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [:] }
        var settings: Settings = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if let included = line.firstMatch(of: #/^\s*#include\??\s*"([^"]+)"/#) {
                let file = join(URL(filePath: path).deletingLastPathComponent().path, String(included.1))
                settings.merge(configurationFile(file, depth: depth + 1)) { $1 }
            } else if let entry = line.firstMatch(of: #/^\s*(\w+)\s*=\s*([^/;]*)/#) {
                settings[String(entry.1)] = entry.2.trimmingCharacters(in: .whitespaces)
            }
        }
        return settings
    }

    // MARK: Facts

    private func targets(compiling path: String) -> Set<String> {
        let inFolders = folders.filter { path.hasPrefix($0.path + "/") && !$0.excluded.contains(path) }
        return (targets[path] ?? []).union(inFolders.map(\.target))
    }

    /// The modules of the targets that compile a file.
    func modules(compiling path: String) -> Set<String> {
        Set(
            targets(compiling: path).flatMap { target in
                let stated = (settings[target] ?? []).compactMap { $0["PRODUCT_MODULE_NAME"] }
                let plain = stated.filter { !$0.contains("$") }
                let name = objects[target]?["name"] as? String ?? target
                return plain.isEmpty ? [String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })] : plain
            })
    }

    func compiles(_ path: String) -> Bool { !targets(compiling: path).isEmpty }

    func mayUseSwift6(_ path: String) -> Bool {
        targets(compiling: path).contains {
            settings[$0]?.contains { $0["SWIFT_VERSION"]?.hasPrefix("6") == true } ?? false
        }
    }

    private static let keys: [(system: String, key: String, kit: String)] = [
        ("iOS", "IPHONEOS_DEPLOYMENT_TARGET", "iphone"), ("macOS", "MACOSX_DEPLOYMENT_TARGET", "macosx"),
        ("tvOS", "TVOS_DEPLOYMENT_TARGET", "appletv"), ("watchOS", "WATCHOS_DEPLOYMENT_TARGET", "watch"),
        ("visionOS", "XROS_DEPLOYMENT_TARGET", "xr"),
    ]

    /// The deployment targets of the targets that compile a file, or of all targets. A target that states none for its
    /// system allows every version.
    func platforms(of path: String? = nil) -> Platforms {
        var platforms = Platforms()
        let targets = path.map(targets) ?? Set(settings.keys)
        for settings in targets.flatMap({ self.settings[$0] ?? [] }) {
            let kits = [settings["SDKROOT"], settings["SUPPORTED_PLATFORMS"]].compactMap(\.self).joined(separator: " ")
            let named = Self.keys.filter { kits.contains($0.kit) }
            let stated = Self.keys.filter { settings[$0.key] != nil }
            for (system, key, _) in !named.isEmpty ? named : !stated.isEmpty ? stated : [Self.keys[0]] {
                let version = settings[key].flatMap { resolved($0, settings) }.flatMap { Platforms.Version($0) }
                platforms.state(system, version ?? .unknown, in: name)
            }
        }
        return platforms
    }

    /// A value without `$(NAME)`; nil if the name has no value.
    private func resolved(_ value: String, _ settings: Settings) -> String? {
        guard let name = value.firstMatch(of: #/^\$[({](\w+)[)}]$/#)?.1 else { return value }
        return settings[String(name)].flatMap { $0.hasPrefix("$") ? nil : $0 }
    }
}
