#if canImport(Android)
    internal import Android

    /// The number of processors at work.
    let processorCount = max(1, Int(sysconf(_SC_NPROCESSORS_ONLN)))

    /// The initial value of the variable that gets a new thread.
    var noThread: pthread_t { 0 }

    func number(of thread: pthread_t) -> UInt { UInt(bitPattern: thread) }
#endif
