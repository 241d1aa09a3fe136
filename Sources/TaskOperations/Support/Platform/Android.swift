#if canImport(Android)
    internal import Android

    /// The number of active processors.
    let processorCount = max(1, Int(sysconf(_SC_NPROCESSORS_ONLN)))

    /// An initial value, which `pthread_create` overwrites.
    var noThread: pthread_t { 0 }

    func number(of thread: pthread_t) -> UInt { UInt(bitPattern: thread) }
#endif
