import TaskOperationsTesting

/// The numbers from 0, as an asynchronous sequence that records the numbers that were read.
struct CountedElements: AsyncSequence, Sendable {
    let count: Int
    /// The index at which `next()` throws an error instead of returning a number.
    var failureIndex: Int?
    /// A gate at which `next()` waits after the last element.
    var endGate: Gate?
    let taken = Recorder<Int>()

    func makeAsyncIterator() -> Iterator { Iterator(elements: self) }

    struct Iterator: AsyncIteratorProtocol {
        let elements: CountedElements
        private var index = 0

        init(elements: CountedElements) {
            self.elements = elements
        }

        mutating func next() async throws -> Int? {
            await Task.yield()
            if index == elements.count {
                await elements.endGate?.pass()
                return nil
            }
            if index == elements.failureIndex { throw WorkFailed(number: index) }
            defer { index += 1 }
            elements.taken.record(index)
            return index
        }
    }
}
