import Synchronization

/// Operations on their way into a queue. Any thread puts them in without waiting for another, and they are taken out
/// all at once, in the order in which they were put in.
///
/// This is Treiber's stack (R. K. Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986). As it
/// is emptied as a whole, an address that comes again does no harm. It is there because threads that add to one queue
/// would otherwise contend for its lock: eight of them on two processors took 41,000 ns for an operation, not 500.
struct Mailbox: ~Copyable, @unchecked Sendable {
    // The pointer is only ever exchanged, and what it points to is `Sendable`.
    private let last = Atomic<UnsafeMutableRawPointer?>(nil)

    var isEmpty: Bool { last.load(ordering: .sequentiallyConsistent) == nil }

    func put(_ operation: AnyTaskOperation) {
        let new = Unmanaged.passRetained(operation).toOpaque()
        var expected = last.load(ordering: .relaxed)
        while true {
            operation.nextInMailbox = expected.map { .fromOpaque($0) }
            let (isExchanged, found) = last.weakCompareExchange(
                expected: expected, desired: new, ordering: .sequentiallyConsistent)
            if isExchanged { return }
            expected = found
        }
    }

    /// Takes everything out.
    func empty(_ receive: (AnyTaskOperation) -> Void) {
        if isEmpty { return }
        // Each was retained when it was put in, and is let go of here, once: `exchange` gives it to one caller only.
        var unreversed = last.exchange(nil, ordering: .acquiring).map { Unmanaged<AnyTaskOperation>.fromOpaque($0) }
        var next: Unmanaged<AnyTaskOperation>?
        while let operation = unreversed {
            unreversed = operation._withUnsafeGuaranteedRef { operation in
                let following = operation.nextInMailbox
                operation.nextInMailbox = next
                return following
            }
            next = operation
        }
        while let operation = next?.takeRetainedValue() {
            next = operation.nextInMailbox
            receive(operation)
        }
    }

    deinit { empty { _ in } }
}
