/// Values at small stable numbers, which are used again after a removal. Every call is constant time.
struct SlotMap<Value> {
    private var values: [Value?] = []
    private var free: [Int] = []

    var count: Int { values.count - free.count }

    subscript(slot: Int) -> Value {
        get { values[slot]! }
        set { values[slot] = newValue }
        _modify { yield &values[slot]! }
    }

    /// The value at a slot, or nil where there is none.
    func value(at slot: Int) -> Value? {
        values.indices.contains(slot) ? values[slot] : nil
    }

    /// Every value, by slot. Linear in the most values that were ever held at once.
    var all: [Value] { values.compactMap(\.self) }

    mutating func insert(_ value: Value) -> Int {
        if let slot = free.popLast() {
            values[slot] = value
            return slot
        }
        values.append(value)
        return values.count - 1
    }

    @discardableResult
    mutating func remove(at slot: Int) -> Value {
        defer {
            values[slot] = nil
            free.append(slot)
        }
        return values[slot]!
    }
}

extension SlotMap: Sendable where Value: Sendable {}
