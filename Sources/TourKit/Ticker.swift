import Foundation

/// Calls a function again and again, on a thread of its own, until it is stopped.
struct Ticker: Sendable {
    private let stopping = DispatchSemaphore(value: 0)

    init(every interval: DispatchTimeInterval, _ tick: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [stopping] in
            repeat { tick() } while stopping.wait(timeout: .now() + interval) == .timedOut
        }
    }

    /// Has it end. A last call may be under way.
    func stop() {
        stopping.signal()
    }
}
