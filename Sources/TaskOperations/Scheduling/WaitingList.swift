/// Waiting values in the order of arrival. Each value has a unique number. Every call takes amortised constant time.
///
/// An empty list, the usual case, allocates no memory.
struct WaitingList<Value: Sendable>: Sendable {
    private struct Values: Sendable {
        var byNumber: [Int: Value] = [:]
        /// The numbers in the order of arrival. Includes the numbers of removed values.
        var order = PlainDeque<Int>()
    }

    /// Nil if the list is empty.
    private var values: Boxed<Values>?

    var isEmpty: Bool { values == nil }

    var count: Int { values?.value.byNumber.count ?? 0 }

    /// All values, in the order of arrival. Takes linear time.
    var all: [Value] {
        guard let values = values?.value else { return [] }
        return values.order.compactMap { values.byNumber[$0] }
    }

    /// - Parameter number: A number that no earlier value had.
    mutating func append(_ value: Value, number: Int) {
        if values == nil { values = Boxed(Values()) }
        values!.value.byNumber[number] = value
        values!.value.order.append(number)
    }

    /// Removes and returns the value with a number; nil if the list has no such value.
    mutating func remove(_ number: Int) -> Value? {
        guard let value = values?.value.byNumber.removeValue(forKey: number) else { return nil }
        tidy()
        return value
    }

    mutating func removeFirst() -> Value? {
        while let number = values?.value.order.popFirst() {
            if let value = values!.value.byNumber.removeValue(forKey: number) {
                tidy()
                return value
            }
        }
        return nil
    }

    /// Removes and returns all values, in order.
    mutating func removeAll() -> [Value] {
        defer { values = nil }
        return all
    }

    /// Frees memory if less than half of it is needed. Called after a removal.
    private mutating func tidy() {
        let (count, total) = (values!.value.byNumber.count, values!.value.order.count)
        if count == 0 { return values = nil }
        if total <= 64 || total <= 2 * count { return }
        let all = values!.value
        values!.value.order = PlainDeque()
        for number in all.order where all.byNumber[number] != nil { values!.value.order.append(number) }
    }
}
