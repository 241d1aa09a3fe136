/// The part of the memory that a thread has seen: the number of each thread's events that happened before, and the
/// oldest store of each atomic variable that the thread may still read.
struct View {
    /// The number of each thread's events that happened before, by the numbers of the threads.
    private(set) var events: [Int] = []
    /// The oldest store of each object that may still be read, by the numbers of the objects.
    private(set) var stores: [Int] = []

    func events(of thread: Int) -> Int { thread < events.count ? events[thread] : 0 }

    func firstStore(of object: Int) -> Int { object < stores.count ? stores[object] : 0 }

    /// Adds an event of a thread. Returns the number of the event.
    mutating func makeEvent(of thread: Int) -> Int {
        Self.extend(&events, to: thread)
        events[thread] += 1
        return events[thread]
    }

    /// Records that a store was read or made. Older stores can no longer be read.
    mutating func see(_ store: Int, of object: Int) {
        Self.extend(&stores, to: object)
        stores[object] = max(stores[object], store)
    }

    /// Adds all that another view has seen to this view.
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
