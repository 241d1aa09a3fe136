/// A list to which elements are appended, and whose first element is removed. Both take amortised constant time.
///
/// An element has no references, so that the memory can be freed without a visit of each element.
///
/// The elements are in a ring of memory, whose size is a power of two. An empty deque frees a ring with room for
/// more than 1,024 elements. The number of elements is not in the ring. Therefore a thread that appends and a
/// thread that removes write to different memory, unless the deque is short.
struct PlainDeque<Element: BitwiseCopyable> {
    /// The memory. It never changes its size.
    private final class Ring: ManagedBuffer<Int, Element> {
        static func make(capacity: Int) -> Ring {
            // `create` returns an object of the class on which it is called.
            unsafeDowncast(create(minimumCapacity: capacity) { _ in capacity }, to: Ring.self)
        }

        var size: Int { withUnsafeMutablePointerToHeader { $0.pointee } }

        // The pointer is valid during an access, because the deque that makes the access has a reference to the ring.
        var elements: UnsafeMutablePointer<Element> { withUnsafeMutablePointerToElements { $0 } }
    }

    /// Nil before the first element.
    private var ring: Ring?
    /// The position of the first element in the ring.
    private var head: Int32 = 0
    private var length: Int32 = 0

    init() {}

    var count: Int { Int(length) }

    var isEmpty: Bool { length == 0 }

    /// The number of elements for which memory is allocated.
    var capacity: Int { ring?.size ?? 0 }

    var first: Element? { length == 0 ? nil : self[0] }

    var last: Element? { length == 0 ? nil : self[count - 1] }

    /// The element at an index, counted from the first element.
    subscript(index: Int) -> Element { ring!.elements[(Int(head) + index) & (ring!.size - 1)] }

    mutating func append(_ element: Element) {
        if !isKnownUniquelyReferenced(&ring) || count == ring!.size { makeRing() }
        ring!.elements[(Int(head) + count) & (ring!.size - 1)] = element
        length += 1
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        head = (head + 1) & Int32(truncatingIfNeeded: ring!.size - 1)
        length -= 1
        if length == 0, ring!.size > 1024 { ring = nil }
        return first
    }

    /// Moves the elements to a new ring, which has room for another element and is not shared.
    private mutating func makeRing() {
        var size = 4
        while size <= count { size *= 2 }
        let made = Ring.make(capacity: size)
        for index in 0..<count { (made.elements + index).initialize(to: self[index]) }
        (ring, head) = (made, 0)
    }
}

extension PlainDeque: Sequence {
    /// The elements in order.
    func makeIterator() -> some IteratorProtocol<Element> { (0..<count).lazy.map { self[$0] }.makeIterator() }
}

// A deque changes a ring only if no other deque shares it.
extension PlainDeque: @unchecked Sendable where Element: Sendable {}
