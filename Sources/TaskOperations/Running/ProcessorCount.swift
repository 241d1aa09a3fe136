#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How many processors are at work: as many threads as the cooperative pool has. The standard library does not tell.
let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
