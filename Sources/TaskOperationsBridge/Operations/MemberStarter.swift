#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import TaskOperations

    /// Where `OperationQueue` starts the members of bridged queues.
    ///
    /// Nothing but finishing depends on that start, so it is done for many at once: the Dispatch queue stands still until
    /// some members have ended and must finish. Each start would wake a thread otherwise, which costs more than all the
    /// rest of adding an operation.
    enum MemberStarter {
        /// What the base class of bridged queues starts their members on.
        static let queue = {
            let queue = DispatchQueue(label: "BridgedOperationQueue members")
            queue.suspend()
            return queue
        }()

        private static let timer = DispatchQueue(label: "BridgedOperationQueue timer")

        private struct State: Sendable {
            /// Members that have ended and were not started.
            var waiting = 0
            var isRunning = false
            var isTimed = false

            mutating func mustRun() -> Bool {
                defer { isRunning = true }
                return !isRunning
            }
        }

        private static let state = Lock(State())

        /// A member has ended that was not started. It will be, within a millisecond or so.
        static func mustStart() {
            let (mustRun, mustTime) = state.withLock { state in
                state.waiting += 1
                if state.isRunning { return (false, false) }
                if state.waiting >= 64 { return (state.mustRun(), false) }
                defer { state.isTimed = true }
                return (false, !state.isTimed)
            }
            if mustRun { run() }
            if mustTime { timer.asyncAfter(deadline: .now() + .milliseconds(1)) { timeIsUp() } }
        }

        /// A member that waited for it was started.
        static func wasStarted() {
            state.withLock { $0.waiting -= 1 }
        }

        /// Somebody waits for the members that were added so far.
        static func startSoon() {
            let mustRun = state.withLock { $0.mustRun() }
            if mustRun { run() }
        }

        private static func timeIsUp() {
            let mustRun = state.withLock { state in
                state.isTimed = false
                return state.waiting > 0 && state.mustRun()
            }
            if mustRun { run() }
        }

        /// Lets the queue go up to what is in it now, and stand still again.
        private static func run() {
            queue.async {
                queue.suspend()
                let goesOn = state.withLock { state in
                    state.isRunning = state.waiting > 0
                    return state.isRunning
                }
                if goesOn { run() }
            }
            queue.resume()
        }
    }
#endif
