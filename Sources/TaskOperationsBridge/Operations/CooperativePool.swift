/// The threads that run tasks by default, one for each processor. A task that blocks one of them delays all other
/// tasks.
///
/// The pool is made of Dispatch queues, which `isCurrent` recognizes by their label.
enum CooperativePool {}
