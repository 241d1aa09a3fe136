import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// A worker takes its next operation when one ends. A change that is made during a body takes effect before the next
/// start.
@Suite("A change in a body takes effect before the next start", .inTurns, .endsInTime)
struct StartingNextTests {
    private static let count = 24
    private static let all = Array(0..<count)
    /// All positions in the sequence of operations that one worker runs.
    private static let positions = Array(0..<22)

    @Test("Nothing starts once the queue is suspended", arguments: positions)
    func suspending(position: Int) async throws {
        let scene = Scene(position) { $0.queue.isSuspended = true }
        scene.queue.isSuspended = false
        #expect(await eventually { scene.operations[position].isFinished })
        #expect(scene.queue.operationCount == Self.count - position - 1)
        scene.queue.isSuspended = false
        try await scene.end()
        #expect(scene.starts == Self.all)
        #expect(!scene.startedWhileHalted)
    }

    @Test("Nothing starts once the width is 0", arguments: positions)
    func width(position: Int) async throws {
        let scene = Scene(position) { $0.queue.maxConcurrentOperationCount = 0 }
        scene.queue.isSuspended = false
        #expect(await eventually { scene.operations[position].isFinished })
        scene.queue.maxConcurrentOperationCount = 1
        try await scene.end()
        #expect(scene.starts == Self.all)
        #expect(!scene.startedWhileHalted)
    }

    @Test("A cancelled operation never starts", arguments: positions)
    func cancelling(position: Int) async throws {
        let next = try await starts(position) { $0.operations[position + 1].cancel() }
        #expect(next == Self.all.filter { $0 != position + 1 })
        let none = try await starts(position) { $0.queue.cancelAllOperations() }
        #expect(none == Array(0...position))
    }

    @Test("An operation that becomes more urgent is next", arguments: positions)
    func raising(position: Int) async throws {
        let starts = try await starts(position) { $0.operations.last!.priority = .high }
        let others = Self.all.dropLast()
        let expected: [Int] = others.prefix(position + 1) + [Self.count - 1] + others.dropFirst(position + 1)
        #expect(starts == expected)
    }

    @Test("An added operation is ordered by its priority", arguments: positions)
    func adding(position: Int) async throws {
        let starts = try await starts(position) { scene in
            scene.add(100, .low)
            scene.add(101, .medium)
            scene.add(102, .high)
        }
        let expected: [Int] = Self.all.prefix(position + 1) + [102] + Self.all.dropFirst(position + 1)
        #expect(starts == expected + [101, 100])
    }

    @Test("An added operation that becomes more urgent is next", arguments: positions)
    func addingAndRaising(position: Int) async throws {
        let starts = try await starts(position) { scene in
            scene.add(100, .low)
            scene.add(101, .low).priority = .high
        }
        let expected: [Int] = Self.all.prefix(position + 1) + [101] + Self.all.dropFirst(position + 1)
        #expect(starts == expected + [100])
    }

    @Test("An operation that gets a dependency waits for it", arguments: positions.dropLast())
    func depending(position: Int) async throws {
        let starts = try await starts(position) { scene in
            try? scene.operations[position + 1].addDependency(scene.operations.last!)
        }
        #expect(starts == Self.all.filter { $0 != position + 1 } + [position + 1])
    }

    @Test("A barrier starts after all operations before it", arguments: positions)
    func barrier(position: Int) async throws {
        let starts = try await starts(position) { scene in
            scene.add(100, .high, isBarrier: true)
            scene.add(101, .high)
        }
        #expect(starts == Self.all + [100, 101])
    }

    @Test("An ended operation is no longer counted", arguments: positions)
    func counting(position: Int) async throws {
        let counts = Recorder<[AnyTaskOperation]>()
        let starts = try await starts(position) { counts.record($0.queue.operations) }
        #expect(starts == Self.all)
        #expect(counts.events.map(\.count) == [Self.count - position])
    }

    @Test("The operations of a queue that is shut down start, and no operation is added", arguments: positions)
    func shutdown(position: Int) async throws {
        let starts = try await starts(position) { scene in
            scene.queue.shutDown()
            scene.add(100, .high)
        }
        #expect(starts == Self.all)
    }

    /// Returns the order of the starts if a change is made while one operation executes.
    private func starts(_ position: Int, _ happen: @escaping @Sendable (Scene) -> Void) async throws -> [Int] {
        let scene = Scene(position, happen)
        scene.queue.isSuspended = false
        try await scene.end()
        return scene.starts
    }

    @Test("Operations end once, after any calls while they are taken", arguments: 0..<20)
    func races(attempt: Int) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let runs = Recorder<Int>()
        let operations = (0..<2000).map { number in
            TaskOperation(priority: number / (attempt + 10) % 2 == 0 ? .medium : .low) { runs.record(number) }
        }
        let last = TaskOperation {}
        try queue.addOperations(operations + [last])
        queue.isSuspended = false
        await withTaskGroup { group in
            group.addTask { for operation in operations where operation.hashValue % 3 == 0 { operation.cancel() } }
            group.addTask { for operation in operations.dropFirst(attempt) { operation.priority = .low } }
            group.addTask {
                for operation in operations.dropFirst(attempt * 50) {
                    try? operation.addDependency(last)
                    try? operation.removeDependency(last)
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        let cancelled = operations.count { $0.failure is CancellationError }
        #expect(runs.events.count == Set(runs.events).count)
        #expect(runs.events.count + cancelled == operations.count)
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(queue.operationCount == 0)
    }
}

/// A suspended queue of width 1 with operations. One of the operations calls a function.
private final class Scene: Sendable {
    let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
    private let made = Lock<[AnyTaskOperation]>([])
    private let recorder = Recorder<(number: Int, isHalted: Bool)>()

    init(_ position: Int, count: Int = 24, _ happen: @escaping @Sendable (Scene) -> Void) {
        for number in 0..<count {
            queue.addOperation { [self] in
                start(number)
                if number == position { happen(self) }
            }
        }
        made.withLock { $0 = queue.operations }
    }

    var operations: [AnyTaskOperation] { made.withLock { $0 } }

    var starts: [Int] { recorder.events.map(\.number) }

    var startedWhileHalted: Bool { recorder.events.contains(where: \.isHalted) }

    func end() async throws {
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @discardableResult
    func add(_ number: Int, _ priority: TaskPriority, isBarrier: Bool = false) -> AnyTaskOperation {
        let operation = TaskOperation(priority: priority) { [self] in start(number) }
        try? isBarrier ? queue.addBarrier(operation) : queue.addOperation(operation)
        return operation
    }

    private func start(_ number: Int) {
        recorder.record((number, queue.isSuspended || queue.maxConcurrentOperationCount == 0))
    }
}
