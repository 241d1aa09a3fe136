import Foundation

/// Replaces files. An interrupted run leaves each file as it was, or as it should be.
struct FileReplacement {
    /// The reason for writing nothing.
    struct Failure: Error {
        let message: String
    }

    private struct Staged {
        let path: String
        let temporary: String
    }

    /// Writes all new contents beside the files, then renames them. Throws before the first change if any file cannot be
    /// replaced, or has other contents than those that were rewritten.
    static func replace(_ files: [Fixes.Rewritten], renamed: (String) throws -> Void) throws {
        removeRemains(besides: files.map(\.path))
        var staged: [Staged] = []
        do {
            for file in files { staged.append(try stage(file)) }
        } catch {
            for file in staged { unlink(file.temporary) }
            throw error
        }
        for (file, name) in zip(staged, files) {
            guard rename(file.temporary, file.path) == 0 else {
                throw Failure(message: "\(name.path) cannot be written")
            }
            try renamed(name.path)
        }
    }

    /// Removes the hidden files that earlier runs left beside files, because the runs were killed.
    static func removeRemains(besides paths: [String]) {
        let folders = Set(paths.map { URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path })
        for folder in folders {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                guard name.hasPrefix("."), let run = name.wholeMatch(of: #/\..+\.audit-(\d+)-[0-9A-F-]{36}/#)?.1,
                    let identifier = pid_t(run), identifier > 0
                else { continue }
                // The files of a run that still executes are needed. If the identifier was given to another process, a
                // later run removes the file.
                guard kill(identifier, 0) != 0, errno == ESRCH else { continue }
                unlink("\(folder)/\(name)")
            }
        }
    }

    /// Writes the new contents of a file to a hidden file in the same folder, with the permissions of the old one.
    private static func stage(_ file: Fixes.Rewritten) throws -> Staged {
        let path = URL(filePath: file.path).resolvingSymlinksInPath().path
        let none = "no file was changed: \(file.path)"
        guard FileManager.default.contents(atPath: path).map({ [UInt8]($0) }) == file.old else {
            throw Failure(message: "\(none) was changed during the audit")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0o644
        // The superuser may write a read-only file, but its owner did not intend that.
        guard mode & 0o222 != 0, access(path, W_OK) == 0 else { throw Failure(message: "\(none) is read-only") }
        let url = URL(filePath: path)
        let name = ".\(url.lastPathComponent).audit-\(getpid())-\(UUID().uuidString)"
        let temporary = url.deletingLastPathComponent().appending(path: name).path
        let failure = Failure(message: "\(none) cannot be written, because its folder is read-only or full")
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode_t(mode))
        guard descriptor >= 0 else { throw failure }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(file.new))
            guard fchmod(descriptor, mode_t(mode)) == 0 else { throw failure }
            try handle.synchronize()
            try handle.close()
        } catch {
            unlink(temporary)
            throw failure
        }
        return Staged(path: path, temporary: temporary)
    }
}
