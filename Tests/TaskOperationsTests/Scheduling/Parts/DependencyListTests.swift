import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("DependencyList, beside a plain list", .inTurns)
struct DependencyListTests {
    private struct Pair {
        var list = DependencyList()
        var naive: [(operation: AnyTaskOperation, isFinished: Bool)] = []

        func agrees() -> Bool {
            list.operations == naive.map(\.operation)
                && list.unfinished == naive.filter { !$0.isFinished }.map(\.operation)
                && list.unfinishedCount == naive.count { !$0.isFinished }
        }

        func position(of operation: AnyTaskOperation) -> Int? { naive.firstIndex { $0.operation === operation } }

        mutating func insert(_ operation: AnyTaskOperation) -> Bool {
            let isNew = position(of: operation) == nil
            if isNew { naive.append((operation, false)) }
            return list.insert(operation) == isNew
        }

        mutating func remove(_ operation: AnyTaskOperation) -> Bool {
            let position = position(of: operation)
            if let position { naive.remove(at: position) }
            return (list.remove(operation)?.operation == operation) == (position != nil)
        }

        mutating func markFinished(_ operation: AnyTaskOperation) {
            list.markFinished(operation)
            if let position = position(of: operation) { naive[position].isFinished = true }
        }
    }

    @Test("Adding, removing and finishing, with few dependencies and with many", arguments: [3, 8, 9, 40])
    func randomUse(candidates: Int) {
        let operations = (0..<candidates).map { TaskOperation<Void>(name: "\($0)") {} }
        for seed in 0..<50 {
            var random = SeededGenerator(seed: UInt64(seed))
            var pair = Pair()
            for step in 0..<120 {
                let operation = operations.randomElement(using: &random)!
                var isSame = true
                switch random.number(below: 8) {
                case 0..<4: isSame = pair.insert(operation)
                case 4..<6: isSame = pair.remove(operation)
                default: pair.markFinished(operation)
                }
                guard isSame, pair.agrees() else {
                    Issue.record("seed \(seed), step \(step): \(pair.list.operations) is not \(pair.naive)")
                    return
                }
            }
        }
    }

    @Test("A list is empty when its last dependency was removed, also where it was long", arguments: [1, 8, 9, 40])
    func emptied(count: Int) {
        let operations = (0..<count).map { _ in TaskOperation<Void> {} }
        var list = DependencyList()
        let inserted = operations.filter { list.insert($0) }
        let removed = operations.filter { list.remove($0) != nil }
        #expect(inserted.count == count && removed.count == count)
        #expect(list.operations.isEmpty)
        #expect(list.unfinishedCount == 0)
        #expect(list.isEmpty)
    }

    @Test("A dependency that was removed and freed is not mistaken for a new one at its address")
    func freedDependency() {
        var list = DependencyList()
        let kept = (0..<20).map { _ in TaskOperation<Void> {} }
        for operation in kept { _ = list.insert(operation) }
        for _ in 0..<100 {
            let passing = TaskOperation<Void> {}
            let wasInserted = list.insert(passing)
            let wasRemoved = list.remove(passing) != nil
            #expect(wasInserted && wasRemoved)
        }
        #expect(list.operations == kept)
        #expect(list.unfinishedCount == 20)
    }
}
