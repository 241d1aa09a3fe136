import Foundation

/// Runs git to find files that git could not restore, so that `--fix` does not overwrite them.
enum WorkingCopy {
    /// The files that git does not track, or that have uncommitted changes.
    static func unsafe(_ paths: [String]) -> [String] {
        let folders = Dictionary(grouping: paths) { URL(filePath: $0).deletingLastPathComponent().path }
        return folders.sorted { $0.key < $1.key }.flatMap { folder, paths in
            let names = paths.map { URL(filePath: $0).lastPathComponent }
            guard let known = git(["ls-files", "-z", "--"] + names, in: folder),
                let status = git(["status", "--porcelain", "-z", "--"] + names, in: folder)
            else { return paths }
            // The status contains paths relative to the root of the working copy.
            let changed = status.split(separator: "\0").map { $0.split(separator: "/").last.map(String.init) ?? "" }
            return paths.filter { path in
                let name = URL(filePath: path).lastPathComponent
                return !known.split(separator: "\0").contains(Substring(name))
                    || changed.contains { $0 == name || $0.hasSuffix(" \(name)") }
            }
        }
    }

    /// The output of a git command, nil if it fails.
    static func git(_ arguments: [String], in folder: String) -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
    }
}
