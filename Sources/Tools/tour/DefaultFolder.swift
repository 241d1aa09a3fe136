import Foundation

/// The folder that the tour reads if the arguments name none: the sources of this package.
enum DefaultFolder {
    /// The folder of the sources at compile time, or else `Sources` in the current folder.
    ///
    /// - Throws: `UsageError` if neither folder exists.
    static func path() throws(UsageError) -> String {
        let compiled = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL.path
        for path in [compiled, "Sources"] where isFolder(path) { return path }
        throw UsageError(description: "no folder was given, and the current folder has no folder Sources")
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
