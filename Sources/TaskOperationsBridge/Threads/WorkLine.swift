/// Elements in the order of arrival. Both ends are constant time, amortized.
struct WorkLine<Element> {
    private var leaving: [Element] = []
    private var arriving: [Element] = []

    var count: Int { leaving.count + arriving.count }

    var isEmpty: Bool { leaving.isEmpty && arriving.isEmpty }

    mutating func append(_ element: Element) {
        arriving.append(element)
    }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        leaving.removeAll(where: isUnwanted)
        arriving.removeAll(where: isUnwanted)
    }
}

extension WorkLine: Sendable where Element: Sendable {}
