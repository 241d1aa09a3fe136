import Dispatch
import Foundation

/// A simulated network that is reachable at times. It replaces the system's reachability interface.
public final class Network: @unchecked Sendable {  // All mutable state is accessed only under `lock`.
    private let lock = NSLock()
    private var isReachable = false
    private var handlers: [@Sendable () -> Void] = []

    /// Creates a network that is not reachable.
    public init() {}

    /// Calls a handler once the network is reachable. If it is reachable already, calls the handler at once.
    public func whenReachable(_ handler: @escaping @Sendable () -> Void) {
        lock.lock()
        let isReachable = self.isReachable
        if !isReachable { handlers.append(handler) }
        lock.unlock()
        if isReachable { handler() }
    }

    /// Makes the network reachable.
    public func comeBack() {
        lock.lock()
        isReachable = true
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler() }
    }

    /// Makes the network reachable after 5 ms.
    public func comeBackSoon() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { self.comeBack() }
    }
}
