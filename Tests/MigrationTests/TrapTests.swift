import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras
import TestSupport
import Testing

@testable import MigrationExamplesPorted

/// The pitfalls of old code that the pages name. The tests check the behaviour of the old code and of the port.
@Suite("Traps in old code", .inTurns, .endsInTime)
struct TrapTests {
    @Test("A start that calls main before it sets the state never finishes")
    func mainBeforeExecuting() async throws {
        let legacy = StatefulOperation()
        legacy.start()
        #expect(legacy.isExecuting)
        #expect(!legacy.isFinished)

        let ported = TaskOperation<Int>(callback: { completion in completion(.success(1)) })
        try ported.start()
        #expect(try await ported.value == 1)
    }

    @Test("A break between lock and unlock keeps the lock")
    func breakWithLock() async throws {
        #expect(!Self.canLockAfterSelling(tickets: 2))

        let ported = TicketOffice(stock: [])
        for _ in 1...2 { #expect(await ported.sell() == nil) }
    }

    private static func canLockAfterSelling(tickets: Int) -> Bool {
        let lock = NSLock()
        var left = tickets
        while true {
            lock.lock()
            if left == 0 { break }
            left -= 1
            lock.unlock()
        }
        return lock.try()
    }

    @Test("A cancellation that an overridden isCancelled does not tell of is ignored")
    func overriddenIsCancelled() async throws {
        let legacy = StatefulOperation()
        legacy.cancel()
        #expect(!legacy.isCancelled)
        legacy.start()
        #expect(legacy.hasRun)

        let hasRun = SharedCount()
        let ported = TaskOperation { hasRun.add(1) }
        ported.cancel()
        #expect(ported.isCancelled)
        try ported.start()
        await #expect(throws: CancellationError.self) { try await ported.value }
        #expect(hasRun.total == 0)
    }

    @Test("Removing the last unfinished dependency makes an operation ready, in Foundation on Apple platforms only")
    func removedDependency() async throws {
        let (legacy, never) = (BlockOperation {}, BlockOperation {})
        legacy.addDependency(never)
        legacy.removeDependency(never)
        #if canImport(ObjectiveC)
            #expect(legacy.isReady)
        #else
            #expect(!legacy.isReady)
        #endif

        let neverAdded = TaskOperation {}
        let ported = TaskOperation {}
        try ported.addDependency(neverAdded)
        try TaskOperationQueue().addOperation(ported)
        try ported.removeDependency(neverAdded)
        try await ported.value
    }

    @Test("A timer that is rearmed when its time has come never begins its action in a cancelled task")
    func rearmedTimer() async {
        let (begun, cancelled) = (SharedCount(), SharedCount())
        let timer = OneShotTimer {
            begun.add(1)
            if Task.isCancelled { cancelled.add(1) }
        }
        for round in 0..<10_000 {
            await timer.schedule(after: .zero)
            for _ in 0..<round % 40 { await Task.yield() }  // so that some of the times come
        }
        await timer.finished()
        #expect(begun.total > 0)
        #expect(cancelled.total == 0)
    }
}

/// An operation with both faults: `start()` calls `main()` first, and `isCancelled` is treated as the end. Only one
/// thread uses it.
private final class StatefulOperation: Operation, @unchecked Sendable {
    private enum State { case ready, executing, finished }
    private var state = State.ready
    private(set) var hasRun = false

    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isCancelled: Bool { isFinished }

    override func start() {
        if isCancelled { return }
        main()
        state = .executing
    }

    override func main() {
        hasRun = true
        state = .finished
    }
}
