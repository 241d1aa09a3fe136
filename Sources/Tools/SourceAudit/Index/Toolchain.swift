import Foundation

/// The toolchain that builds the audited code: that of the first `swift` in `PATH`.
enum Toolchain {
    /// The path of the first of some libraries that exists in the toolchain, relative to `lib`.
    static func library(_ names: [String]) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for folder in path.split(separator: ":") {
            let swift = URL(filePath: folder + "/swift").resolvingSymlinksInPath()
            guard FileManager.default.isExecutableFile(atPath: swift.path) else { continue }
            let root = swift.deletingLastPathComponent().deletingLastPathComponent()
            for name in names {
                let library = root.appending(path: "lib/" + name).path
                if FileManager.default.fileExists(atPath: library) { return library }
            }
        }
        return nil
    }
}
