import Simulation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Growth: sequences of any length", .computing, .endsInTime)
struct SequenceGrowthTests {
    enum Form: String, CaseIterable {
        case elementsOnQueue, elements, asyncInput, asyncCompletion, results, resultsInBody
    }

    @Test("An element of ten times as many costs about the same", arguments: Form.allCases)
    func linear(form: Form) throws {
        let ratio = try bestRatio(within: 4) { isLarge in
            let count = isLarge ? 2000 : 200
            return try processorTimeOnOneThread { executor in
                for _ in 0..<(2000 / count) { try await form.run(count, executor) }
            }
        }
        #expect(ratio < 4, "quadratic work would make it 10")
    }

    @Test("A wait for a result costs about the same when 40 times as many are unfinished")
    func waits() throws {
        let ratio = try bestRatio(within: 4) { isLarge in
            try onOneThread { executor in
                let queue = TaskOperationQueue(.init(executor: executor))
                let (results, end) = (TaskOperationResults<Int>(on: queue), TaskOperation {})
                for _ in 0..<(isLarge ? 8000 : 200) { results.addOperation(dependencies: [end]) { 0 } }
                results.addOperation { 1 }
                var iterator = results.makeAsyncIterator()
                _ = try await iterator.next()
                let start = threadTime()
                for _ in 0..<100 {
                    results.addOperation { 1 }
                    #expect(try await iterator.next()?.result.get() == 1)
                }
                defer { results.cancelAllOperations() }
                return threadTime() - start
            }
        }
        #expect(ratio < 4, "a look at all that are unfinished would make it 40")
    }

    @Test("A result costs about the same when 40 times as many tasks wait for one")
    func consumers() throws {
        let ratio = try bestRatio(within: 4) { isLarge in
            try onOneThread { executor in
                let queue = TaskOperationQueue(.init(executor: executor))
                let results = TaskOperationResults<Int>(on: queue)
                let gates = (0..<50).map { _ in Gate() }
                for (number, gate) in gates.enumerated() {
                    results.addOperation {
                        await gate.pass()
                        return number
                    }
                }
                let (waiting, taken) = (ConcurrencyMeter(), ConcurrencyMeter())
                let consumers = (0..<(isLarge ? 4000 : 100)).map { _ in
                    Task(executorPreference: executor) {
                        var iterator = results.makeAsyncIterator()
                        waiting.enter()
                        while try await iterator.next() != nil { taken.enter() }
                    }
                }
                while waiting.total < consumers.count { await Task.yield() }
                let start = threadTime()
                for (number, gate) in gates.enumerated().dropLast() {
                    gate.open()
                    while taken.total <= number { await Task.yield() }
                }
                defer { gates.last!.open() }
                return threadTime() - start
            }
        }
        #expect(ratio < 4, "a look at all tasks that wait would make it 40")
    }

    #if os(Linux)
        @Test("Many elements are mapped in constant memory", .prompt)
        func memory() async {
            await #expect(processExitsWith: .success) {
                let queue = TaskOperationQueue()
                for order in [ResultOrder.input, .completion] {
                    let elements = CountedNumbers(count: tensOfThousands * 4)
                    var (before, count) = (0, 0)
                    for try await _ in elements.concurrentMap(on: queue, order: order, { $0 }) {
                        count += 1
                        if count == elements.count / 10 { before = heapInUse! }
                    }
                    let kept = heapInUse! - before
                    // One object per element would take at least 16 bytes.
                    #expect(kept < 8 * elements.count, "\(kept) bytes")
                    #expect(count == elements.count)
                }
            }
        }
    #endif
}

extension SequenceGrowthTests.Form {
    fileprivate func run(_ count: Int, _ executor: SeededExecutor) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
        switch self {
        case .elementsOnQueue:
            _ = try await (0..<count).concurrentMap(on: queue) { $0 }
        case .elements:
            _ = try await (0..<count).concurrentMap { $0 }
        case .asyncInput:
            for try await _ in CountedNumbers(count: count).concurrentMap(on: queue, { $0 }) {}
        case .asyncCompletion:
            for try await _ in CountedNumbers(count: count).concurrentMap(order: .completion, { $0 }) {}
        case .results:
            try await take(count, after: count, on: queue)
        case .resultsInBody:
            try await queue.addOperation { try await take(count, after: 8, on: queue) }.value
        }
    }

    private func take(_ count: Int, after initial: Int, on queue: TaskOperationQueue) async throws {
        let results = TaskOperationResults<Int>(on: queue)
        for number in 0..<initial { results.addOperation { number } }
        var taken = 0
        for try await _ in results {
            taken += 1
            if taken <= count { results.addOperation { 0 } }
        }
        #expect(taken == initial + count)
    }
}

/// The numbers from 0, as an asynchronous sequence without a record.
private struct CountedNumbers: AsyncSequence, Sendable {
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(count: count) }

    struct Iterator: AsyncIteratorProtocol {
        let count: Int
        private var number = 0

        init(count: Int) {
            self.count = count
        }

        mutating func next() async -> Int? {
            if number == count { return nil }
            defer { number += 1 }
            return number
        }
    }
}
