/// An array that usually has one element. The first element needs no allocation.
struct TinyArray<Element> {
    /// The first element; nil if the array is empty.
    private var first: Element?
    private var others: [Element] = []

    init() {}

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
