import Foundation

/// The package or Xcode project with a target that compiles a file.
struct Project {
    let folder: String
    /// The manifests of the package; empty for an Xcode project.
    let manifests: [Manifest]
    let platforms: Platforms
    let mayUseSwift6: Bool
    /// Whether only Apple's systems run the code.
    let isApple: Bool
    /// Whether a file may import the bridge without a change of the project.
    let hasBridge: Bool
}

/// Finds the projects of files. Each project is read once.
struct Projects {
    /// The paths that the audit was given. A project below another package is only used if its folder was given.
    private let roots: [String]
    private var packages: [String: Result<[Manifest], Refusal>] = [:]
    private var xcodeProjects: [String: [XcodeProject]] = [:]
    private var dependents: [String: Result<[String: [Manifest]], Refusal>] = [:]
    /// The audited manifests.
    private let audited: Set<String>
    /// The folders of the repositories with the given paths.
    private lazy var folders = Self.folders(around: roots)

    /// - Parameter paths: The audited files.
    init(roots: [String], paths: [String]) {
        self.roots = roots.map(Self.absolute)
        audited = Set(paths.lazy.filter { $0.hasSuffix("Package.swift") }.map(Self.absolute))
    }

    private static func absolute(_ path: String) -> String {
        URL(filePath: path.isEmpty ? "." : path).standardizedFileURL.path
    }

    /// The nearest project of which a target compiles a file. Throws if there is none.
    mutating func project(of path: String) throws(Refusal) -> Project {
        let path = Self.absolute(path)
        var folder = URL(filePath: path).deletingLastPathComponent().path
        var refusal: Refusal?
        while true {
            do throws(Refusal) {
                if let project = try project(in: folder, of: path) {
                    try checkPlace(folder, of: path)
                    return project
                }
            } catch {
                refusal = refusal ?? error
            }
            guard folder.count > 1 else { break }
            folder = URL(filePath: folder).deletingLastPathComponent().path
        }
        throw refusal ?? Refusal("no Package.swift or Xcode project states its platforms")
    }

    /// The project in a folder that compiles a file; nil if the folder has none. Throws if its targets leave the file out.
    private mutating func project(in folder: String, of path: String) throws(Refusal) -> Project? {
        let xcode = xcodeProjects(in: folder)
        let compiling = xcode.filter { $0.compiles(path) }
        var platforms = Platforms.ofPodspecs(in: folder)
        for project in compiling { platforms.merge(project.platforms(of: path)) }
        let isSwift6 = compiling.contains { $0.mayUseSwift6(path) }
        var manifests: [Manifest] = []
        do throws(Refusal) {
            manifests = try self.manifests(in: folder)
            for manifest in manifests { try manifest.checkTarget(of: path) }
        } catch {
            if compiling.isEmpty { throw error }
            manifests = []
        }
        guard manifests.isEmpty else {
            for manifest in manifests { platforms.merge(manifest.platforms) }
            return Project(
                folder: folder, manifests: manifests, platforms: platforms,
                mayUseSwift6: isSwift6 || manifests.contains(where: \.mayUseSwift6), isApple: false, hasBridge: true)
        }
        if let project = compiling.first {
            return Project(
                folder: folder, manifests: [], platforms: platforms, mayUseSwift6: isSwift6, isApple: true,
                hasBridge: project.hasBridge)
        }
        if let project = xcode.first { throw Refusal("no target of \(project.name) compiles it") }
        return nil
    }

    /// Throws if a project is an example or a fixture: a project of its own below a package that does not depend on it.
    private mutating func checkPlace(_ folder: String, of path: String) throws(Refusal) {
        let isGiven = roots.contains { $0 == folder || $0.hasPrefix(folder + "/") }
        guard !isGiven else { return }
        var outer = folder
        while outer.count > 1, !roots.contains(outer) {
            outer = URL(filePath: outer).deletingLastPathComponent().path
            let manifests = (try? manifests(in: outer)) ?? []
            guard !manifests.isEmpty || FileManager.default.fileExists(atPath: outer + "/Package.swift") else {
                continue
            }
            guard depends(manifests, on: folder) else {
                throw Refusal("it is in a project of its own below a package: give the path of that project")
            }
        }
    }

    // MARK: Packages that depend on others

    /// Whether a package depends on another by its path, directly or through others.
    private mutating func depends(_ manifests: [Manifest], on folder: String) -> Bool {
        var waiting = manifests.flatMap(\.packages)
        var seen: Set<String> = []
        while let package = waiting.popLast() {
            if package == folder { return true }
            guard seen.insert(package).inserted else { continue }
            waiting += ((try? self.manifests(in: package)) ?? []).flatMap(\.packages)
        }
        return false
    }

    /// The manifests of the packages that depend on a package by its path, directly or through others, by their folders.
    /// Throws if the platforms of one cannot be raised with those of the package.
    mutating func dependents(of folder: String) throws(Refusal) -> [String: [Manifest]] {
        if let known = dependents[folder] { return try known.get() }
        do throws(Refusal) {
            let found = try findDependents(of: folder)
            dependents[folder] = .success(found)
            return found
        } catch {
            dependents[folder] = .failure(error)
            throw error
        }
    }

    private mutating func findDependents(of folder: String) throws(Refusal) -> [String: [Manifest]] {
        var found: [String: [Manifest]] = [:]
        for other in folders where other != folder {
            for project in xcodeProjects(in: other) {
                let packages = project.packages.filter { FileManager.default.fileExists(atPath: $0 + "/Package.swift") }
                let isDependent = packages.contains { package in
                    package == folder || depends((try? manifests(in: package)) ?? [], on: folder)
                }
                guard isDependent, let obstacle = project.platforms().obstacle(to: .mutex) else { continue }
                throw Refusal("a project depends on its package, and \(obstacle)")
            }
            guard let manifests = try? manifests(in: other), depends(manifests, on: folder) else { continue }
            let isGiven = audited.contains(other + "/Package.swift") || roots.contains { $0.hasPrefix(other + "/") }
            guard isGiven else {
                throw Refusal("\(other)/Package.swift depends on its package: give the path of that folder, too")
            }
            for manifest in manifests { _ = try manifest.edits(bridgeFor: [], raisesPlatforms: true) }
            found[other] = manifests
        }
        return found
    }

    /// The folders with sources in the repositories of some paths, and the folders around these.
    private static func folders(around roots: [String]) -> [String] {
        var repositories = RepositoryPaths()
        let tops = Set(roots.map { repositories.root(of: $0 + "/") ?? $0 })
        var folders = tops
        for path in FileWalk(tops.sorted()).paths {
            var folder = URL(filePath: absolute(path)).deletingLastPathComponent().path
            while folder.count > 1, folders.insert(folder).inserted {
                folder = URL(filePath: folder).deletingLastPathComponent().path
            }
        }
        return folders.sorted()
    }

    private mutating func manifests(in folder: String) throws(Refusal) -> [Manifest] {
        if let known = packages[folder] { return try known.get() }
        do throws(Refusal) {
            let manifests = try Manifest.all(in: folder)
            packages[folder] = .success(manifests)
            return manifests
        } catch {
            packages[folder] = .failure(error)
            throw error
        }
    }

    private mutating func xcodeProjects(in folder: String) -> [XcodeProject] {
        if let known = xcodeProjects[folder] { return known }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let found = names.filter { $0.hasSuffix(".xcodeproj") }.sorted().compactMap {
            XcodeProject(folder: folder, name: $0)
        }
        xcodeProjects[folder] = found
        return found
    }
}
