import Foundation
import PackagePlugin

/// `swift package audit`: runs the audit on the package's folder, or on the paths that it is given.
@main
struct AuditPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        // If the plugin depended on the tool, each build of this package would compile the tool twice.
        let build = try packageManager.build(.product("audit"), parameters: .init())
        guard build.succeeded, let tool = build.builtArtifacts.first(where: { $0.kind == .executable }) else {
            Diagnostics.error("The audit could not be built:\n\(build.logText)")
            return
        }
        let process = Process()
        process.executableURL = tool.url
        process.currentDirectoryURL = context.package.directoryURL
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        // The plugin's exit status is the tool's, so that CI sees it.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
