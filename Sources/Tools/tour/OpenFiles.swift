import Foundation

/// The process's limit of open files.
enum OpenFiles {
    /// The required number of descriptors. Recipes use many connections to a server at once. If the `URLSession` of a
    /// legacy side gets no descriptor for a connection, the side never ends and keeps a processor busy.
    static let needed = 128

    /// Raises the process's limit to the required number.
    ///
    /// - Throws: `OpenFileLimitError` if the system rejects the new limit.
    static func allowNeeded() throws(OpenFileLimitError) {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < rlim_t(needed) else { return }
        guard limits.rlim_max >= rlim_t(needed) else {
            throw OpenFileLimitError(limit: Int(limits.rlim_max), needed: needed)
        }
        limits.rlim_cur = rlim_t(needed)
        setrlimit(resource, &limits)
    }
}

/// The error if the limit of open files is too low for the tour.
struct OpenFileLimitError: Error, CustomStringConvertible {
    let limit: Int
    let needed: Int

    var description: String {
        "the limit of open files is \(limit), but the recipes need \(needed). Raise the limit: ulimit -n \(needed)"
    }
}
