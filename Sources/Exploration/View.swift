/// The view of the memory that a thread has: the number of earlier events of each thread, and the oldest store of each
/// atomic variable that it may still read.
struct View {
    /// By the numbers of threads: how many of their events happened before.
    private(set) var events: [Int] = []
    /// By the numbers of objects: the oldest store that may still be read.
    private(set) var stores: [Int] = []

    func events(of thread: Int) -> Int { thread < events.count ? events[thread] : 0 }

    func firstStore(of object: Int) -> Int { object < stores.count ? stores[object] : 0 }

    /// A thread makes an event. Returns the number of the event.
    mutating func makeEvent(of thread: Int) -> Int {
        Self.extend(&events, to: thread)
        events[thread] += 1
        return events[thread]
    }

    /// A store was read or made: older ones cannot be read any more.
    mutating func see(_ store: Int, of object: Int) {
        Self.extend(&stores, to: object)
        stores[object] = max(stores[object], store)
    }

    /// All that is seen in another view is seen in this one.
    mutating func join(_ other: View) {
        Self.join(&events, other.events)
        Self.join(&stores, other.stores)
    }

    private static func extend(_ numbers: inout [Int], to index: Int) {
        while numbers.count <= index { numbers.append(0) }
    }

    private static func join(_ numbers: inout [Int], _ others: [Int]) {
        extend(&numbers, to: others.count - 1)
        for index in others.indices where others[index] > numbers[index] { numbers[index] = others[index] }
    }
}
