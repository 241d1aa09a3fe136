import Foundation

/// The kind of an entry of a folder.
enum EntryKind {
    case file, folder, link, pipe, socket, device

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }

    /// The reason why the entry cannot be read as a file; nil if it can.
    var reasonNotToRead: String? {
        switch self {
        case .file: nil
        case .folder: "it is a folder"
        case .link: "it is a link"
        case .pipe: "it is a pipe, not a file"
        case .socket: "it is a socket, not a file"
        case .device: "it is a device, not a file"
        }
    }
}
