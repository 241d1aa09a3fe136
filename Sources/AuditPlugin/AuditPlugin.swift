import Foundation
import PackagePlugin

/// `swift package audit`: runs the audit on the package's folder, or on the paths that it is given.
@main
struct AuditPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let process = Process()
        process.executableURL = try context.tool(named: "audit").url
        process.currentDirectoryURL = context.package.directoryURL
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        // The plugin's exit status is the tool's, so that CI sees it.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
