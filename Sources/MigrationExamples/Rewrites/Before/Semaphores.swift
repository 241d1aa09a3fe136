import Foundation

public final class Account {
    private let semaphore = DispatchSemaphore(value: 1)
    private var balance = 0

    public init() {}

    public func add(_ amount: Int) -> Int {
        semaphore.wait()
        defer { semaphore.signal() }
        balance += amount
        return balance
    }

    public func reset() {
        semaphore.wait()
        balance = 0
        semaphore.signal()
    }
}

public func signalled() -> Int {
    // Not rewritten: another thread signals.
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { done.signal() }
    done.wait()
    return 1
}
