/// An array that usually has one element. The first element needs no allocation.
struct TinyArray<Element> {
    /// The first element; nil if the array is empty.
    private var first: Element?
    private var others: [Element] = []

    init() {}

    init(only element: Element) { first = element }

    init(_ elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Removes and returns the last element. Returns nil if the array is empty.
    mutating func popLast() -> Element? {
        if let last = others.popLast() { return last }
        return first.take()
    }

    @inline(__always)
    func forEach(_ body: (Element) -> Void) {
        if let first { body(first) }
        if others.isEmpty { return }
        for element in others { body(element) }
    }

    mutating func remove(at position: Int) {
        if position > 0 {
            others.remove(at: position - 1)
        } else {
            first = others.isEmpty ? nil : others.removeFirst()
        }
    }
}

extension TinyArray: RandomAccessCollection, MutableCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { first == nil ? 0 : others.count + 1 }

    subscript(position: Int) -> Element {
        @inline(__always) get { position == 0 ? first! : others[position - 1] }
        set { if position == 0 { first = newValue } else { others[position - 1] = newValue } }
    }
}

extension TinyArray: Sendable where Element: Sendable {}

extension Array {
    /// Removes all elements. Frees the memory only if there are more than `count` elements.
    // Less than `removeAll(keepingCapacity:)` for a short array: Cost, row 33.
    @inline(__always)
    mutating func empty(keepingMemoryFor count: Int) {
        if self.count > count { self = [] }
        while !isEmpty { removeLast() }
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element that meets a condition; `endIndex` if there is none. All later elements must meet the
    /// condition, too. Takes O(log *n*) time.
    package func partitioningIndex(where isIncluded: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isIncluded(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// A list to which elements are appended, and whose first element is removed. Both take amortised constant time.
///
/// An element has no references, so that the memory can be freed without a visit of each element.
///
/// The elements are in a ring of memory, whose size is a power of two. If at most an eighth of a ring with room for more
/// than 1,024 elements is used, the deque frees the rest. The number of elements is not in the ring. Therefore a thread
/// that appends and a thread that removes write to different memory, unless the deque is short.
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
        if ring!.size > 1024, count <= ring!.size / 8 { makeRing() }
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

/// An element of a `Heap`.
protocol HeapElement {
    /// Whether the element leaves the heap before another. At most one of two elements is before the other.
    func isBefore(_ other: Self) -> Bool
}

/// A binary heap. Its first element is before all others. A change takes amortised O(log *n*) time. If at most an eighth of
/// memory for more than 1,024 elements is used, the heap frees the rest.
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
        elements[0] = last
        moveDown(from: 0)
        if elements.capacity > 1024, elements.count <= elements.capacity / 8 { elements = elements.map { $0 } }
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

/// A list whose first element is before all others. Equal elements may leave in any order.
///
/// Elements that arrive in order are appended to a deque, which takes constant time. Late elements are inserted into a
/// heap, which takes logarithmic time in the number of late elements. In a queue, an operation is late, for example, if
/// it waited for a dependency or changed its priority.
struct RankedList<Element: HeapElement & BitwiseCopyable> {
    private var punctual = PlainDeque<Element>()
    private var late = Heap<Element>()

    init() {}

    var count: Int { punctual.count + late.count }

    var isEmpty: Bool { punctual.isEmpty && late.isEmpty }

    /// The number of elements for which memory is allocated.
    var capacity: Int { punctual.capacity + late.elements.capacity }

    /// All elements of the list, in no particular order.
    var elements: [Element] { punctual + late.elements }

    var first: Element? {
        guard let punctual = punctual.first else { return late.first }
        guard let late = late.first else { return punctual }
        return late.isBefore(punctual) ? late : punctual
    }

    mutating func insert(_ element: Element) {
        if let last = punctual.last, element.isBefore(last) {
            late.insert(element)
        } else {
            punctual.append(element)
        }
    }

    /// Removes and returns the first element of the list, which must not be empty.
    @discardableResult
    mutating func removeFirst() -> Element {
        guard let latecomer = late.first else { return punctual.popFirst()! }
        if let punctual = punctual.first, !latecomer.isBefore(punctual) { return self.punctual.popFirst()! }
        late.removeFirst()
        return latecomer
    }

    /// Removes the unwanted elements. Takes linear time.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        var wanted = PlainDeque<Element>()
        for element in punctual where !isUnwanted(element) { wanted.append(element) }
        punctual = wanted
        late = Heap(late.elements.filter { !isUnwanted($0) })
    }
}

extension RankedList: Sendable where Element: Sendable {}

/// Waiting values, sorted by their numbers. A search by number takes logarithmic time. An addition, and the removal of
/// the first value, take amortised constant time, unless numbers arrive far out of order.
///
/// An empty list, the usual case, allocates no memory. A list of one value needs one allocation.
package struct WaitingList<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: Int
        /// Nil if the value was removed.
        var value: Value?
    }

    /// Nil if the list is empty.
    private var entries: Boxed<Entries>?

    package init() {}

    var isEmpty: Bool { entries == nil }

    var count: Int { entries?.value.count ?? 0 }

    /// The number of values in memory, including removed ones.
    var placeCount: Int { entries?.value.all.count ?? 0 }

    /// All values in order. Takes linear time.
    var all: [Value] { entries?.value.all.compactMap(\.value) ?? [] }

    @inline(__always)
    func forEach(_ body: (Value) -> Void) {
        entries?.value.all.forEach { entry in
            if let value = entry.value { body(value) }
        }
    }

    /// Whether the list has a value with a number.
    package func contains(_ number: Int) -> Bool {
        entries?.value.position(of: number).map { entries!.value.all[$0].value != nil } ?? false
    }

    /// Adds a value.
    ///
    /// - Parameter number: A number that no earlier value had. It is usually above all numbers in the list.
    package mutating func append(_ value: Value, number: Int) {
        let entry = Entry(number: number, value: value)
        if entries == nil { entries = Boxed(Entries(entry)) } else { entries!.value.append(entry) }
    }

    /// Calls a function that may change the value with a number. Returns nil if the list has no such value.
    mutating func update<Result>(_ number: Int, _ body: (inout Value) -> Result) -> Result? {
        guard let position = entries?.value.position(of: number), var value = entries!.value.all[position].value
        else { return nil }
        defer { entries!.value.all[position].value = value }
        return body(&value)
    }

    /// Removes and returns the value with a number; nil if the list has no such value.
    package mutating func remove(_ number: Int) -> Value? { removing { $0.remove(number) } }

    package mutating func removeFirst() -> Value? { removing { $0.removeFirst() } }

    /// Removes and returns all values, in order.
    package mutating func removeAll() -> [Value] {
        defer { entries = nil }
        return all
    }

    private mutating func removing(_ remove: (inout Entries) -> Value?) -> Value? {
        if entries == nil { return nil }
        let value = remove(&entries!.value)
        if entries!.value.count == 0 { entries = nil }
        return value
    }
}

extension WaitingList {
    /// The entries of a list that is not empty.
    private struct Entries: Sendable {
        var all: TinyArray<Entry>
        /// The values before this position were removed.
        private var start = 0
        private(set) var count = 1

        init(_ first: Entry) {
            all = TinyArray(only: first)
        }

        mutating func append(_ entry: Entry) {
            all.append(entry)
            count += 1
            // Threads draw numbers without a lock, so a value with a higher number may be added first.
            var position = all.count - 1
            while position > 0, all[position - 1].number > entry.number {
                all.swapAt(position - 1, position)
                position -= 1
                start = min(start, position)
            }
        }

        func position(of number: Int) -> Int? {
            let position = all.partitioningIndex { $0.number >= number }
            return position < all.count && all[position].number == number ? position : nil
        }

        mutating func remove(_ number: Int) -> Value? { position(of: number).flatMap { remove(at: $0) } }

        mutating func removeFirst() -> Value? {
            while true {
                start += 1
                if let value = remove(at: start - 1) { return value }
            }
        }

        private mutating func remove(at position: Int) -> Value? {
            guard let value = all[position].value.take() else { return nil }
            count -= 1
            if all.count > 16, all.count > 2 * count {
                all = TinyArray(all.filter { $0.value != nil })
                start = 0
            }
            return value
        }
    }
}

extension Dictionary {
    /// Frees memory after many entries were removed. Takes amortised constant time for each removal.
    package mutating func shrink() {
        if capacity <= 64 || count >= capacity / 8 { return }
        // Not a filtered dictionary, because a filter that removes nothing returns the same memory.
        var smaller = Self(minimumCapacity: 2 * count)
        for (key, value) in self { smaller[key] = value }
        self = smaller
    }
}

/// A value in separately allocated memory. An optional box takes 8 bytes in its owner, which saves memory if most
/// owners have no such value.
///
/// The type has value semantics. Before a change, the memory is copied if another box shares it.
struct Boxed<Value: Sendable>: @unchecked Sendable {
    // A `Box` is changed only while it has one reference.

    private final class Box {
        // Every access is an access to a `Boxed`, whose exclusivity the compiler checks.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { copy() }
            yield &box.value
        }
    }

    // Not inlined, because copies are rare.
    @inline(never)
    private mutating func copy() { box = Box(box.value) }
}
