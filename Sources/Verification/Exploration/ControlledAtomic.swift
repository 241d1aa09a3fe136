public import Synchronization

/// Replaces `Atomic`.
public struct ControlledAtomic<Value: AtomicRepresentable>: ~Copyable, @unchecked Sendable {
    // Only the thread that has the turn uses the variable.
    let variable: AtomicVariable<Value>

    public init(_ value: consuming Value, _ file: StaticString = #fileID, _ line: UInt = #line) {
        variable = AtomicVariable(value, file, line)
    }
}

extension ControlledAtomic {
    public func load(
        ordering: AtomicLoadOrdering, _ file: StaticString = #fileID, _ line: UInt = #line
    ) -> Value {
        variable.load(MemoryOrder(ordering, file, line))
    }

    public func store(
        _ value: Value, ordering: AtomicStoreOrdering, _ file: StaticString = #fileID, _ line: UInt = #line
    ) {
        variable.store(value, MemoryOrder(ordering, file, line))
    }

    public func exchange(
        _ value: Value, ordering: AtomicUpdateOrdering, _ file: StaticString = #fileID, _ line: UInt = #line
    ) -> Value {
        variable.update(MemoryOrder(ordering, file, line)) { _ in value }.old
    }
}

extension ControlledAtomic where Value: Equatable {
    public func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, MemoryOrder(ordering, file, line))
    }

    public func weakCompareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering, _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        variable.compareExchange(expected, desired, MemoryOrder(ordering, file, line))
    }
}

extension ControlledAtomic where Value: FixedWidthInteger {
    @discardableResult
    public func add(
        _ number: Value, ordering: AtomicUpdateOrdering, _ file: StaticString = #fileID, _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        let (old, new) = variable.update(MemoryOrder(ordering, file, line)) { $0 + number }
        return (oldValue: old, newValue: new)
    }

    @discardableResult
    public func subtract(
        _ number: Value, ordering: AtomicUpdateOrdering, _ file: StaticString = #fileID, _ line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        let (old, new) = variable.update(MemoryOrder(ordering, file, line)) { $0 - number }
        return (oldValue: old, newValue: new)
    }
}

/// The history of an atomic variable: all stores of a schedule, in order.
///
/// In weak memory, a load may return every store, except stores that the view of its thread excludes. A store is
/// excluded if the thread, or an event that happened before the load, has read or made a later store. With acquiring
/// and releasing orderings, the view of a thread passes from a store to the loads that return it. A sequentially
/// consistent load returns no store that is older than the last sequentially consistent store. This is the memory model
/// of C++20 with two restrictions: a store is never ordered before an older store of its variable, and a load never
/// returns a future store.
final class AtomicVariable<Value>: SharedObject, @unchecked Sendable {
    // Safe for the same reason as `SharedObject`.

    private struct Store {
        let value: Value
        /// The view that an acquiring load of the store obtains.
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

    func load(_ order: MemoryOrder) -> Value {
        guard let thread = reach(.load), thread.turnstile.memory == .weak else { return value }
        let (number, parts) = (number(in: thread.turnstile), thread.turnstile.parts(of: order))
        let first = max(thread.view.firstStore(of: number), parts.contains(.sequential) ? lastSequential : 0)
        let index = stores.count - 1 - thread.turnstile.pickValue(below: stores.count - first)
        see(index, thread, number, parts)
        return stores[index].value
    }

    func store(_ value: Value, _ order: MemoryOrder) {
        let thread = reach(.store)
        self.value = value
        guard let thread, thread.turnstile.memory == .weak else { return }
        append(value, thread, after: View(), thread.turnstile.parts(of: order))
    }

    func update(_ order: MemoryOrder, _ change: (Value) -> Value) -> (old: Value, new: Value) {
        let thread = reach(.update)
        let old = value
        if let turnstile = thread?.turnstile, turnstile.splits(order) { _ = reach(.store) }
        value = change(old)
        if let thread, thread.turnstile.memory == .weak { appendUpdate(thread, order) }
        return (old, value)
    }

    func compareExchange(
        _ expected: Value, _ desired: Value, _ order: MemoryOrder
    ) -> (exchanged: Bool, original: Value) where Value: Equatable {
        let thread = reach(.update)
        let old = value
        let isExchanged = old == expected
        if isExchanged { value = desired }
        guard let thread, thread.turnstile.memory == .weak else { return (isExchanged, old) }
        if isExchanged {
            appendUpdate(thread, order)
        } else {
            // A failed exchange could also return an older store. It does not, so that loops that repeat it end.
            see(stores.count - 1, thread, number(in: thread.turnstile), thread.turnstile.parts(of: order))
        }
        return (isExchanged, old)
    }

    /// Waits for the turn before an access. Returns the thread; nil outside of a schedule.
    private func reach(_ access: ControlledThread.Access) -> ControlledThread? {
        guard let thread = ControlledThread.current else { return nil }
        thread.turnstile.reach(.access(self, access))
        return thread
    }

    private func see(_ index: Int, _ thread: ControlledThread, _ number: Int, _ parts: OrderingParts) {
        thread.view.see(index, of: number)
        if parts.contains(.acquire) { thread.view.join(stores[index].view) }
    }

    /// Appends the store of an update. An update reads the last store, and acquires its view if the ordering says so.
    private func appendUpdate(_ thread: ControlledThread, _ order: MemoryOrder) {
        let parts = thread.turnstile.parts(of: order)
        see(stores.count - 1, thread, number(in: thread.turnstile), parts)
        append(value, thread, after: stores[stores.count - 1].view, parts)
    }

    private func append(_ value: Value, _ thread: ControlledThread, after view: View, _ parts: OrderingParts) {
        _ = thread.view.makeEvent(of: thread.number)
        thread.view.see(stores.count, of: number(in: thread.turnstile))
        var view = view
        if parts.contains(.release) { view.join(thread.view) }
        if parts.contains(.sequential) { lastSequential = stores.count }
        stores.append(Store(value: value, view: view))
    }
}

/// A plain variable in an exploration with weak memory. The schedule fails if a data race occurs: two accesses, at
/// least one of them a write, and neither happened before the other.
public final class RaceChecked<Value>: SharedObject, @unchecked Sendable {
    // Safe for the same reason as `SharedObject`.
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
            "Data race: \(name(in: turnstile)) is \(access) by thread \(thread.number), and nothing orders that after thread \(other)."
        )
    }
}
