import Synchronization
import TaskOperations

/// A pause before the start of an operation, which depends on `end`. The pause can begin again, and end early.
///
/// The operation is on its queue during the pause. So the queue counts and cancels it, and waits for it when it is shut
/// down. All pauses on one clock share the sleeping task of the library's deadlines.
final class SettlingPause: Sendable {
    /// The dependency that ends with the pause.
    let end: TaskOperation<Void> = .placeholder(name: "settling")
    private let timer = Lock<HandlerTimer?>(nil)

    /// Creates a pause that has not begun. Returns nil if its duration is not positive.
    // An initialiser would create the dependency before it fails, which takes a third of the instructions of a request.
    static func make(of duration: Duration) -> SettlingPause? { duration > .zero ? SettlingPause() : nil }

    /// Begins the pause, or begins it again. Has no effect after the end. Takes O(log *n*) time for *n* pauses.
    func begin(_ pause: Duration, clock: any Clock<Duration>) {
        if end.isFinished { return }
        let new = HandlerTimer { [end] in end.finishExternally() }
        replaceTimer(by: new)
        new.start(pause, clock: clock)
        // If the pause ended, or another thread began it again, before this timer started, nothing else ends the timer.
        if end.isFinished || timer.withLock({ $0 !== new }) { new.end() }
    }

    /// Ends the pause, so that the operation can start.
    func finish() {
        end.finishExternally()
        replaceTimer(by: nil)
    }

    private func replaceTimer(by new: HandlerTimer?) {
        let former = timer.withLock { timer in
            defer { timer = new }
            return timer
        }
        former?.end()
    }
}

extension [AnyTaskOperation] {
    /// The dependencies of an operation that starts after a pause, if there is one.
    func and(_ pause: SettlingPause?) -> [AnyTaskOperation] { pause.map { self + [$0.end] } ?? self }
}
