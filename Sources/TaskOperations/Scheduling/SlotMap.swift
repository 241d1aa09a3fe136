/// Values at small stable numbers, which are used again after a removal. Every call is constant time.
struct SlotMap<Value> {
    private var values: [Value?] = []
    private var free: [Int] = []

    var count: Int { values.count - free.count }

    subscript(slot: Int) -> Value {
        _read { yield values[slot]! }
        _modify { yield &values[slot]! }
    }

    /// Whether there is a value at a slot.
    func holds(_ slot: Int) -> Bool {
        slot >= 0 && slot < values.count && values[slot] != nil
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
        free.append(slot)
        return values[slot].take()!
    }
}

extension SlotMap: Sendable where Value: Sendable {}
