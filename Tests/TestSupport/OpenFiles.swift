import Foundation

/// Lowers the number of files that the process may have open.
package func limitOpenFiles(to count: Int) {
    #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        let resource = RLIMIT_NOFILE
    #endif
    var limits = rlimit()
    precondition(getrlimit(resource, &limits) == 0)
    limits.rlim_cur = rlim_t(count)
    precondition(setrlimit(resource, &limits) == 0)
}
