/// The threads that run tasks by default. There is one thread for each processor. A task that blocks one of these
/// threads delays other tasks.
///
/// The pool uses Dispatch queues. `isCurrent` recognizes these queues by their labels.
enum CooperativePool {}
