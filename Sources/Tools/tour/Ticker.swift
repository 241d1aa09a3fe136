import Foundation

/// Calls a function repeatedly, on its own thread, until it is stopped.
///
/// A longer pause follows a long call, so that the calls use at most a twentieth of a processor's time.
struct Ticker: Sendable {
    private let stopping = DispatchSemaphore(value: 0)

    init(every interval: Duration, _ tick: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [stopping] in
            var pause: Duration
            repeat {
                let start = ContinuousClock.now
                tick()
                pause = max(interval, (ContinuousClock.now - start) * 19)
            } while stopping.wait(timeout: .now() + pause / .seconds(1)) == .timedOut
        }
    }

    /// Stops the calls. The last call may still be running.
    func stop() {
        stopping.signal()
    }
}
