import Foundation

/// A traversal of a folder and its subfolders, without recursion.
struct FolderListing {
    let root: PathBytes
    private(set) var files: [InputFile] = []
    private(set) var problems: [FileProblem] = []

    /// Folders that were found but not listed yet, as paths within the root.
    private var unlisted = [PathBytes("")]

    init(of root: PathBytes) {
        self.root = root
    }

    mutating func run() throws {
        while let folder = unlisted.popLast() {
            do {
                try list(folder)
            } catch let problem as FileProblem where !folder.bytes.isEmpty {
                problems.append(problem)
            }
        }
    }

    private mutating func list(_ folder: PathBytes) throws {
        let path = folder.bytes.isEmpty ? root : root.appending(folder)
        guard let stream = path.withCString(opendir) else { throw FileProblem(path, errno: errno) }
        defer { closedir(stream) }
        while true {
            try Task.checkCancellation()
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileProblem(path, errno: errno) }
                return
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                PathBytes(cString: bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
            }
            if name != PathBytes("."), name != PathBytes("..") { take(folder.appending(name)) }
        }
    }

    /// Processes an entry. A link counts as the file to which it refers.
    private mutating func take(_ relativePath: PathBytes) {
        let path = root.appending(relativePath)
        var status = stat()
        var failed = path.withCString { lstat($0, &status) } != 0
        let isLink = !failed && EntryKind(status) == .link
        if isLink { failed = path.withCString { stat($0, &status) } != 0 }
        if failed {
            let problem =
                isLink && errno == ENOENT
                ? FileProblem(path, "it is a link that leads nowhere") : FileProblem(path, errno: errno)
            problems.append(problem)
            return
        }
        switch (EntryKind(status), isLink) {
        case (.folder, false): unlisted.append(relativePath)
        case (.folder, true): break
        case (let kind, _):
            if let reason = kind.reasonNotToRead {
                problems.append(FileProblem(path, reason))
            } else {
                files.append(InputFile(status, path: path, relativePath: relativePath))
            }
        }
    }
}
