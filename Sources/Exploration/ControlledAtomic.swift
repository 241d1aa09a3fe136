public import Synchronization

/// In place of `Atomic`.
public struct ControlledAtomic<Value: AtomicRepresentable>: ~Copyable, @unchecked Sendable {
    // The variable is used by the thread that has the turn only.
    let variable: AtomicVariable<Value>

    public init(_ value: consuming Value, _ file: StaticString = #fileID, _ line: UInt = #line) {
        variable = AtomicVariable(value, file, line)
    }
}

extension ControlledAtomic {
    public func load(ordering: AtomicLoadOrdering) -> Value {
        variable.load(acquires: ordering != .relaxed, isSequential: ordering == .sequentiallyConsistent)
    }

    public func store(_ value: Value, ordering: AtomicStoreOrdering) {
        variable.store(value, releases: ordering != .relaxed, isSequential: ordering == .sequentiallyConsistent)
    }

    public func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
        variable.update(ordering) { _ in value }.old
    }
}

extension ControlledAtomic where Value: Equatable & Copyable {
    public func compareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, successOrdering, failureOrdering, isWeak: false)
    }

    public func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, ordering, ordering.onFailure, isWeak: false)
    }

    public func weakCompareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, successOrdering, failureOrdering, isWeak: true)
    }

    public func weakCompareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, ordering, ordering.onFailure, isWeak: true)
    }
}

extension ControlledAtomic where Value: FixedWidthInteger {
    @discardableResult
    public func add(_ number: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
        let (old, new) = variable.update(ordering) { $0 + number }
        return (oldValue: old, newValue: new)
    }

    @discardableResult
    public func subtract(_ number: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
        let (old, new) = variable.update(ordering) { $0 - number }
        return (oldValue: old, newValue: new)
    }
}

extension AtomicUpdateOrdering {
    /// The ordering of a load that finds another value than expected.
    fileprivate var onFailure: AtomicLoadOrdering {
        switch self {
        case .sequentiallyConsistent: .sequentiallyConsistent
        case .acquiring, .acquiringAndReleasing: .acquiring
        default: .relaxed
        }
    }

    fileprivate var acquires: Bool { self != .relaxed && self != .releasing }
    fileprivate var releases: Bool { self != .relaxed && self != .acquiring }
}

/// The history of an atomic variable: all stores of a schedule, in their order.
///
/// In weak memory, a load may return every store except those that its thread knows to be overwritten: because it has
/// read a later one, or has made it, or something that happened before the load has. With acquiring and releasing
/// orderings, what a thread has seen passes from a store to the loads that return it. A sequentially consistent load
/// returns no store older than the last sequentially consistent one. That is the memory of C++20 with two limits: a store
/// never comes before an older one in the order of its variable, and a load never returns a store of the future.
final class AtomicVariable<Value>: SharedObject, @unchecked Sendable {
    // As for every `SharedObject`.

    private struct Store {
        let value: Value
        /// What an acquiring load that returns the store has seen from then on.
        let view: View
    }

    private var value: Value
    private var stores: [Store] = []
    private var lastSequential = 0

    init(_ value: Value, _ file: StaticString, _ line: UInt) {
        self.value = value
        super.init(kind: "atomic", file: file, line: line)
    }

    override func begin(_ turnstile: Turnstile) {
        lastSequential = 0
        stores = turnstile.memory == .weak ? [Store(value: value, view: View())] : []
    }

    func load(acquires: Bool, isSequential: Bool) -> Value {
        guard let thread = reach(.load), thread.turnstile.memory == .weak else { return value }
        let number = number(in: thread.turnstile)
        let first = max(thread.view.firstStore(of: number), isSequential ? lastSequential : 0)
        let index = stores.count - 1 - thread.turnstile.pickValue(below: stores.count - first)
        see(index, thread, number, acquires: acquires)
        return stores[index].value
    }

    func store(_ value: Value, releases: Bool, isSequential: Bool) {
        let thread = reach(.store)
        self.value = value
        guard let thread, thread.turnstile.memory == .weak else { return }
        append(value, thread, after: View(), releases: releases, isSequential: isSequential)
    }

    func update(_ ordering: AtomicUpdateOrdering, _ change: (Value) -> Value) -> (old: Value, new: Value) {
        let thread = reach(.update)
        let old = value
        value = change(old)
        if let thread, thread.turnstile.memory == .weak { appendUpdate(thread, ordering) }
        return (old, value)
    }

    func compareExchange(
        _ expected: Value, _ desired: Value, _ success: AtomicUpdateOrdering, _ failure: AtomicLoadOrdering, isWeak: Bool
    ) -> (exchanged: Bool, original: Value) where Value: Equatable {
        let thread = reach(.update)
        let old = value
        let isExchanged = old == expected
        if isExchanged { value = desired }
        guard let thread, thread.turnstile.memory == .weak else { return (isExchanged, old) }
        if isExchanged {
            appendUpdate(thread, success)
        } else {
            // It could return older stores, too; loops that try again are finite because it does not.
            see(stores.count - 1, thread, number(in: thread.turnstile), acquires: failure != .relaxed)
        }
        return (isExchanged, old)
    }

    /// Stops before an access. Returns the thread; nil outside of a schedule.
    private func reach(_ access: ControlledThread.Access) -> ControlledThread? {
        guard let thread = ControlledThread.current else { return nil }
        thread.turnstile.reach(.access(self, access))
        return thread
    }

    private func see(_ index: Int, _ thread: ControlledThread, _ number: Int, acquires: Bool) {
        thread.view.see(index, of: number)
        if acquires { thread.view.join(stores[index].view) }
    }

    /// An update reads the last store, and what acquires that acquires the update, too.
    private func appendUpdate(_ thread: ControlledThread, _ ordering: AtomicUpdateOrdering) {
        see(stores.count - 1, thread, number(in: thread.turnstile), acquires: ordering.acquires)
        append(
            value, thread, after: stores[stores.count - 1].view, releases: ordering.releases,
            isSequential: ordering == .sequentiallyConsistent)
    }

    private func append(_ value: Value, _ thread: ControlledThread, after view: View, releases: Bool, isSequential: Bool) {
        _ = thread.view.makeEvent(of: thread.number)
        thread.view.see(stores.count, of: number(in: thread.turnstile))
        var view = view
        if releases { view.join(thread.view) }
        if isSequential { lastSequential = stores.count }
        stores.append(Store(value: value, view: view))
    }
}

/// A plain variable of an exploration with weak memory: two accesses of which one is a write, and none happened before the
/// other, are a data race, which fails the schedule.
public final class RaceChecked<Value>: SharedObject, @unchecked Sendable {
    // As for every `SharedObject`.
    private var value: Value
    private var lastWrite: (thread: Int, event: Int)?
    private var reads: [Int: Int] = [:]

    public init(_ value: Value, _ file: StaticString = #fileID, _ line: UInt = #line) {
        self.value = value
        super.init(kind: "variable", file: file, line: line)
    }

    public func read() -> Value {
        if let thread = ControlledThread.current {
            checkWrite(thread, "read")
            reads[thread.number] = thread.view.makeEvent(of: thread.number)
        }
        return value
    }

    public func write(_ value: Value) {
        if let thread = ControlledThread.current {
            checkWrite(thread, "written")
            for (other, event) in reads where thread.view.events(of: other) < event { fail(thread, "written", other) }
            reads = [:]
            lastWrite = (thread.number, thread.view.makeEvent(of: thread.number))
        }
        self.value = value
    }

    private func checkWrite(_ thread: ControlledThread, _ access: String) {
        guard let lastWrite, thread.view.events(of: lastWrite.thread) < lastWrite.event else { return }
        fail(thread, access, lastWrite.thread)
    }

    private func fail(_ thread: ControlledThread, _ access: String, _ other: Int) {
        let turnstile = thread.turnstile
        turnstile.fail(
            "Data race: \(name(in: turnstile)) is \(access) by thread \(thread.number), and nothing orders that after thread \(other).")
    }
}
