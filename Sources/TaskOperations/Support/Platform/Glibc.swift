#if canImport(Glibc)
    internal import Glibc

    /// The number of active processors.
    let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// The initial value of a variable that `pthread_create` sets.
    var noThread: pthread_t { 0 }

    func number(of thread: pthread_t) -> UInt { UInt(thread) }
#endif
