import Foundation
import Synchronization

public final class Account {
    private let semaphore = Mutex(())
    private var balance = 0

    public init() {}

    public func add(_ amount: Int) -> Int {
        return semaphore.withLock { _ in
            balance += amount
            return balance
        }
    }

    public func reset() {
        semaphore.withLock { _ in
            balance = 0
        }
    }
}

public func signalled() -> Int {
    // Not rewritten: another thread signals.
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { done.signal() }
    done.wait()
    return 1
}
