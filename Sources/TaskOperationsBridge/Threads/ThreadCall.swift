internal import Synchronization

/// A call on a thread where it may block, whose end a task waits for.
final class ThreadCall: Sendable {
    private let hasEnded = Atomic(false)
    private let end = OneShot<Void>()

    /// Has a function called on one of the threads for old code, and waits until it returns. Most such calls are short:
    /// the task gives its own thread up only after a moment.
    static func perform(_ function: @escaping @Sendable () -> Void) async {
        let call = ThreadCall()
        LegacyThreads.shared.run {
            function()
            call.hasEnded.store(true, ordering: .releasing)
            call.end.provide(())
        }
        Patience.wait { call.hasEnded.load(ordering: .acquiring) }
        if !call.hasEnded.load(ordering: .acquiring) { await call.end.value }
    }
}
