import Foundation
import Testing

@testable import SourceAudit

/// A package of sources that is removed when the object is freed.
final class Package {
    static let manifest = """
        // swift-tools-version: 5.9
        import PackageDescription
        let package = Package(
            name: "App", platforms: [.macOS("15.0"), .iOS("18.0")], targets: [.target(name: "App")])

        """

    /// A manifest whose systems have no `Mutex`.
    static let oldManifest = manifest.replacing("platforms: [.macOS(\"15.0\"), .iOS(\"18.0\")], ", with: "")

    let path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)").path

    init(_ sources: [String: String], manifest: String = Package.manifest) throws {
        try write(manifest, to: "Package.swift")
        for (name, text) in sources { try write(text, to: "Sources/App/\(name)") }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    func fixes(raisesPlatforms: Bool = false) -> Fixes {
        var auditor = Auditor(paths: [path])
        auditor.usesIndex = false
        auditor.raisesPlatforms = raisesPlatforms
        return auditor.fixes()
    }

    func run(_ arguments: String...) -> (status: AuditCommand.Status, output: String, errors: String) {
        var (output, errors) = ("", "")
        let command = AuditCommand(
            isTerminal: false, showsProgress: false, write: { output += $0 }, writeError: { errors += $0 })
        return (command.run(["--no-index", path] + arguments), output, errors)
    }

    func git(_ arguments: String...) throws {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        try #require(WorkingCopy.git(identity + arguments, in: path) != nil)
    }
}
