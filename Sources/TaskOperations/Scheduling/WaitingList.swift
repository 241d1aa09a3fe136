/// Waiting values in the order of arrival, each with a number. Every call takes amortised constant time.
struct WaitingList<Value: Sendable>: Sendable {
    private var values: [Int: Value] = [:]
    /// The numbers in order, from `head` on. Those that were removed are skipped.
    private var order: [Int] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    func contains(where isWanted: (Value) -> Bool) -> Bool { values.values.contains(where: isWanted) }

    /// - Parameter number: One that nothing had before.
    mutating func append(_ value: Value, number: Int) {
        values[number] = value
        count += 1
        order.append(number)
    }

    /// Removes the value with a number; nil if there is none.
    mutating func remove(_ number: Int) -> Value? {
        guard let value = values.removeValue(forKey: number) else { return nil }
        tidy()
        return value
    }

    mutating func removeFirst() -> Value? {
        while head < order.count {
            head += 1
            if let value = values.removeValue(forKey: order[head - 1]) {
                tidy()
                return value
            }
        }
        return nil
    }

    /// Removes all, in order.
    mutating func removeAll() -> [Value] {
        defer { self = Self() }
        return order[head...].compactMap { values[$0] }
    }

    /// One was removed. Gives memory back if less than half of it is needed.
    private mutating func tidy() {
        count -= 1
        if isEmpty { return self = Self() }
        if order.count <= 64 || order.count <= 2 * count { return }
        order = order[head...].filter { values[$0] != nil }
        head = 0
    }
}
