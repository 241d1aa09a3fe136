/// A queue. Adding an element at its end, and removing one at either end, take amortized constant time. An emptied queue
/// frees large buffers.
package struct Deque<Element> {
    private var leaving: [Element] = []
    private var arriving: [Element] = []

    package init() {}

    package var count: Int { leaving.count + arriving.count }

    package var isEmpty: Bool { leaving.isEmpty && arriving.isEmpty }

    /// The element that `popFirst` removes.
    package var first: Element? { leaving.last ?? arriving.first }

    package mutating func append(_ element: Element) {
        arriving.append(element)
    }

    package mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: arriving.capacity <= Self.keptCapacity)
        }
        defer { if leaving.isEmpty, leaving.capacity > Self.keptCapacity { leaving = [] } }
        return leaving.popLast()
    }

    /// The largest capacity of a buffer that an emptied queue keeps, in elements.
    private static var keptCapacity: Int { 1024 }

    package mutating func popLast() -> Element? {
        if arriving.isEmpty {
            // Half of the elements, so that neither end becomes empty at each change of the direction.
            let count = (leaving.count + 1) / 2
            arriving = leaving.prefix(count).reversed()
            leaving.removeFirst(count)
        }
        defer { if arriving.isEmpty, arriving.capacity > Self.keptCapacity { arriving = [] } }
        return arriving.popLast()
    }

    package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        leaving.removeAll(where: isUnwanted)
        arriving.removeAll(where: isUnwanted)
    }
}

extension Deque: Sendable where Element: Sendable {}
