import Synchronization

/// Operations on their way into a scheduler. Any thread puts them in without waiting for another, and they are taken out
/// all at once, in the order in which they were put in.
///
/// This is Treiber's stack (R. K. Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986). As it
/// is emptied as a whole, an address that comes again does no harm. It is there because threads that add to one queue
/// would otherwise contend for its lock: eight of them on two processors took 41,000 ns for an operation, not 500.
///
/// A thread that puts something in need not enter the scheduler if another one is about to, which empties the mailbox.
/// The mailbox therefore also says what is urgent. Nothing is left lying: a thread first puts in and then reads the
/// urgency (1); the scheduler, before it is left, first stores the urgency and then looks whether the mailbox is empty (2).
/// All four accesses are sequentially consistent, so they have one order. If (1) reads an urgency from before the store of
/// (2), what was put in precedes the look of (2), which finds it. Otherwise (1) reads the new one, and enters if that
/// says so. The level of an operation is read in (1) after it was put in: whoever raises it enters, and finds it there.
struct Mailbox: ~Copyable, @unchecked Sendable {
    // The pointer is only ever exchanged, and what it points to is `Sendable`.
    private let last = Atomic<UnsafeMutableRawPointer?>(nil)
    private let urgency = Atomic(Urgency.everything.rawValue)

    typealias Urgency = Scheduler.State.Urgency

    var isEmpty: Bool { last.load(ordering: .sequentiallyConsistent) == nil }

    /// Puts an operation in. Returns whether the caller has to enter the scheduler.
    func put(_ operation: AnyTaskOperation) -> Bool {
        push(operation)
        let urgency = Urgency(rawValue: urgency.load(ordering: .sequentiallyConsistent))
        return urgency != .nothing && urgency.includes(operation.snapshot.level)
    }

    /// Says what is urgent from now on. Returns whether something was put in before that was said.
    ///
    /// To be called by a thread that has entered the scheduler, as its last step.
    func publish(_ urgency: Urgency) -> Bool {
        if self.urgency.load(ordering: .relaxed) == urgency.rawValue { return false }
        self.urgency.store(urgency.rawValue, ordering: .sequentiallyConsistent)
        return !isEmpty
    }

    private func push(_ operation: AnyTaskOperation) {
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
        var next: Unmanaged<AnyTaskOperation>?  // of the same, each still retained once
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
