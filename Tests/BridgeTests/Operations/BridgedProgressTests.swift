import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Progress of operations over the bridge", .inTurns, .prompt, .endsInTime)
struct BridgedProgressTests {
    private let queue = TaskOperationQueue()

    @Test("a Progress follows the operation, in its own units or in thousandths")
    func fromOperation() async throws {
        let (gate, thousandths) = (Gate(), Gate())
        let operation = queue.addOperation {
            AnyTaskOperation.current?.reportProgress(3, of: 12)
            await gate.pass()
            AnyTaskOperation.current?.reportProgress(0.5)
            await thousandths.pass()
        }
        let progress = operation.foundationProgress()
        await until { progress.completedUnitCount == 3 && progress.totalUnitCount == 12 }
        gate.open()
        await until { progress.completedUnitCount == 500 && progress.totalUnitCount == 1000 }
        #expect(!progress.isFinished)
        thousandths.open()
        try await operation.value
        await until { progress.isFinished }
        #expect(progress.completedUnitCount == 1000)
    }

    @Test("cancelling the Progress cancels the operation, which completes it")
    func cancellation() async throws {
        queue.isSuspended = true
        let operation = queue.addOperation {}
        let progress = operation.foundationProgress()
        #expect(progress.isCancellable)
        progress.cancel()
        #expect(operation.isCancelled)
        await until { progress.isFinished }
    }

    @Test("the Progress of an operation counts for its parent")
    func parent() async {
        // In a separate process, because on Linux the arithmetic of a progress with children can stop the process.
        await #expect(processExitsWith: .success) {
            let parent = Progress(totalUnitCount: 10)
            let operation = TaskOperation {}
            let progress = operation.foundationProgress()
            // Foundation counts a child twice that ends while it is added.
            parent.addChild(progress, withPendingUnitCount: 10)
            try TaskOperationQueue().addOperation(operation)
            try await operation.value
            await until { progress.isFinished && parent.completedUnitCount == 10 }
        }
    }

    @Test("an interval between two reads of a Progress may be longer than the runtime can represent")
    func longInterval() async throws {
        let clock = SleepRecordingClock()
        let operation = queue.addOperation {
            await AnyTaskOperation.reportingProgress(
                of: Progress(totalUnitCount: 1), every: .seconds(Int64.max) * 18, clock: clock
            ) {
                await until { clock.sleeps.events.count == 1 }
            }
        }
        try await operation.value
        #expect(clock.sleeps.events.allSatisfy { $0 < .nanoseconds(Int64.max) })
    }

    private struct SleepRecordingClock: Clock {
        let sleeps = Recorder<Duration>()

        var now: ContinuousClock.Instant { .now }

        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            sleeps.record(now.duration(to: deadline))
            try await Task.sleep(for: .seconds(3600))
        }
    }

    @Test("An operation that reports all its units many times counts once for its parent, at its end", .prompt)
    func completeManyTimes() async {
        await #expect(processExitsWith: .success) {
            let parent = Progress(totalUnitCount: 10)
            let gates = (0..<100).map { _ in Gate() }
            let operation = TaskOperation {
                for (number, gate) in gates.enumerated() {
                    AnyTaskOperation.current?.reportProgress(number % 5 + 1, of: 5)
                    await gate.pass()
                }
            }
            let progress = operation.foundationProgress()
            parent.addChild(progress, withPendingUnitCount: 7)
            try operation.start()
            for (number, gate) in gates.enumerated() {
                await gate.waitForArrivals(1)
                await until { progress.completedUnitCount == number % 5 + 1 }
                #expect(parent.completedUnitCount == 0)
                gate.open()
            }
            try await operation.value
            await until { progress.isFinished && parent.completedUnitCount == 7 }
            #expect(parent.fractionCompleted == 0.7)
        }
    }

    @Test("a body reports the fraction of a Progress, also at the end, and cancels it")
    func fromFoundation() async throws {
        let (clock, progress, gate) = (ManualClock(), Progress(totalUnitCount: 8), Gate())
        let operation = queue.addOperation {
            await AnyTaskOperation.reportingProgress(of: progress, every: .seconds(1), clock: clock) {
                await gate.pass()
                progress.completedUnitCount = 8
            }
            return AnyTaskOperation.current!.currentProgress
        }
        await gate.waitForArrivals(1)
        await clock.waitForSleepers(1)
        progress.completedUnitCount = 2
        clock.advance(by: .seconds(1))
        await until { operation.currentProgress.fraction == 0.25 }
        operation.cancel()
        #expect(progress.isCancelled)
        gate.open()
        let last = try await operation.value
        #expect(last.fraction == 1)
        #expect(!last.isFinished)
        await until { clock.sleeperCount == 0 }
    }

    @Test("the error of the work is thrown, and outside of bodies the work is only called")
    func errors() async throws {
        struct Failure: Error {}
        let progress = Progress(totalUnitCount: 1)
        await #expect(throws: Failure.self) {
            try await AnyTaskOperation.reportingProgress(of: progress) { throw Failure() }
        }
        let operation = queue.addOperation {
            try await AnyTaskOperation.reportingProgress(of: progress) { throw Failure() }
        }
        await #expect(throws: Failure.self) { try await operation.value }
    }

    @Test("a queue has both, the progress of Foundation and the updates")
    func both() async throws {
        queue.isSuspended = true
        for _ in 0..<3 { queue.addOperation {} }
        let (updates, progress) = (queue.progressUpdates(), queue.progress)
        queue.isSuspended = false
        var last: OperationProgress?
        for await update in updates { last = update }
        #expect(last?.completedUnitCount == 3)
        await until { progress.completedUnitCount == 3 }
        #expect(progress.totalUnitCount == 3)
    }
}
