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

    init(roots: [String]) { self.roots = roots.map(Self.absolute) }

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
            guard manifests.contains(where: { $0.dependsOn(folder) }) else {
                throw Refusal("it is in a project of its own below a package: give the path of that project")
            }
        }
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
