/// Whether schedules can control threads. The thread sanitizer has functions of its own in the place of those by which
/// schedules do so.
#if os(Linux) && !TASK_OPERATIONS_PTHREAD_LOCK
    let controlsThreads = true
#else
    let controlsThreads = false
#endif
