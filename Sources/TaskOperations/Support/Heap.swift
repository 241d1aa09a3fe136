/// An element of a `Heap`.
protocol HeapElement {
    /// Whether the element leaves the heap before another. At most one of two elements is before the other.
    func isBefore(_ other: Self) -> Bool
}

/// A binary heap. Its first element is before all others. A change takes O(log *n*) time.
struct Heap<Element: HeapElement> {
    /// The elements, in no particular order except that the first one is before all others.
    private(set) var elements: [Element] = []

    init() {}

    /// Takes linear time.
    init(_ elements: [Element]) {
        self.elements = elements
        for parent in (0..<elements.count / 2).reversed() { moveDown(from: parent) }
    }

    var count: Int { elements.count }

    var isEmpty: Bool { elements.isEmpty }

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child].isBefore(elements[(child - 1) / 2]) {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the first element. The heap must not be empty.
    mutating func removeFirst() {
        let last = elements.removeLast()
        if elements.isEmpty { return }
        replaceFirst(by: last)
    }

    /// Replaces the first element. The heap must not be empty.
    mutating func replaceFirst(by element: Element) {
        elements[0] = element
        moveDown(from: 0)
    }

    private mutating func moveDown(from start: Int) {
        var parent = start
        while true {
            var child = 2 * parent + 1
            if child >= elements.count { return }
            if child + 1 < elements.count, elements[child + 1].isBefore(elements[child]) { child += 1 }
            if !elements[child].isBefore(elements[parent]) { return }
            elements.swapAt(parent, child)
            parent = child
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
