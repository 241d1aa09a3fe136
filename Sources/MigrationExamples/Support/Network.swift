import Dispatch
import Foundation

/// A network that is reachable at times, for a program: a stand-in for the system's reachability.
public final class Network: @unchecked Sendable {  // All that changes is reached under `lock` only.
    private let lock = NSLock()
    private var isReachable = false
    private var handlers: [@Sendable () -> Void] = []

    /// Makes a network that cannot be reached.
    public init() {}

    /// Has a handler called once the network can be reached; at once if it can be now.
    public func whenReachable(_ handler: @escaping @Sendable () -> Void) {
        lock.lock()
        let isReachable = self.isReachable
        if !isReachable { handlers.append(handler) }
        lock.unlock()
        if isReachable { handler() }
    }

    /// From now on it can be reached.
    public func comeBack() {
        lock.lock()
        isReachable = true
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler() }
    }

    /// It is reachable again a moment later.
    public func comeBackSoon() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { self.comeBack() }
    }
}
