import Synchronization

/// A flag that any thread can set. It cannot be cleared.
final class AtomicFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }

    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
}
