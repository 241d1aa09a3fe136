import Foundation
import TaskOperations

/// The result of running a program.
public struct Report: Sendable, CustomStringConvertible {
    public let program: Program
    /// The differences between the library and the model, as text; empty if there are none.
    public let violations: [String]
    /// The number of calls and events.
    public let events: Int
    /// The calls and events as text, if the run keeps the trace.
    public let trace: [String]

    /// The program, the trace and the violations.
    public var description: String {
        (["\(program)", "happened:"] + trace.map { "  \($0)" } + ["wrong:"] + violations.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

extension Program {
    /// Runs the program on the library and on the model, with the schedule of its seed.
    ///
    /// - Parameters:
    ///   - keepsTrace: Whether the report contains all calls and events.
    ///   - eventsBetweenLooks: The number of events after which the library is compared with the model. Each result
    ///     is checked in addition. The number affects the schedule, because reading a queue makes the queue process
    ///     additions.
    public func run(keepsTrace: Bool = false, eventsBetweenLooks: Int = 1) -> Report {
        let executor = SeededExecutor(seed: schedule)
        let world = World(self, executor: executor, keepsTrace: keepsTrace, eventsBetweenLooks: eventsBetweenLooks)
        do {
            try executor.run(jobLimit: 100_000, whenIdle: world.unblock) { await world.runToEnd() }
            world.compareOutcomes()
        } catch {
            world.model.check(false, "\(error)")
        }
        return world.report()
    }
}

extension World {
    fileprivate func runToEnd() async {
        do { try await perform(program.steps, in: nil) } catch { note("main failed: \(error)") }
        for number in operations.indices { await operations[number].suspendUntilEnd() }
        for queue in queues.compactMap({ $0 }) { await queue.suspendUntilEnd() }
    }

    /// Checks at the end that every operation has the expected outcome.
    fileprivate func compareOutcomes() {
        note("all has ended")
        compare()
        compareQueues()
        for number in operations.indices {
            let (expected, real) = (model.operations[number], operations[number])
            let outcome = Model.Outcome(of: real)
            let came = expected.outcome.map { "\($0)" } ?? "nothing"
            model.check(outcome == expected.outcome, "\(real) came to \(outcome), in the model \(came)")
            model.check(!expected.awaitsHandler, "the handler of \(real) was not called")
            model.check(real.dependencies.isEmpty, "\(real) keeps its dependencies")
        }
        for (number, semaphore) in semaphores.enumerated() {
            let missing = semaphore.capacity - semaphore.available
            model.check(missing == 0, "\(missing) permits of semaphore \(number) were not given back")
        }
        for case let queue? in queues { model.check(queue.claimCount == 0, "\(queue) still claims limits") }
    }

    /// Releases all objects, and checks that none of them remains.
    fileprivate func report() -> Report {
        var violations = model.violations
        let (operations, queues) = (operations.map { Weak($0) }, queues.map { Weak($0) })
        endTime()
        dismantle()
        if violations.isEmpty {
            let (operationsLeft, queuesLeft) = (operations.left, queues.left)
            if !operationsLeft.isEmpty { violations.append("operations \(operationsLeft) are not freed") }
            if !queuesLeft.isEmpty { violations.append("queues \(queuesLeft) are not freed") }
        }
        return Report(program: program, violations: violations, events: events, trace: trace)
    }
}

private struct Weak {
    weak var object: AnyObject?

    init(_ object: AnyObject?) {
        self.object = object
    }
}

extension [Weak] {
    /// The positions of the objects that remain. A dump of another test can retain objects of all queues for a moment.
    fileprivate var left: [Int] {
        for _ in 0..<1_000 where contains(where: { $0.object != nil }) { Thread.sleep(forTimeInterval: 0.01) }
        return indices.filter { self[$0].object != nil }
    }
}

extension AnyTaskOperation {
    /// Suspends until the end of the operation. The wait is never rejected, because the task is not within an
    /// operation. It ends early if the program is stuck.
    fileprivate func suspendUntilEnd() async {
        do { try await waitUntilFinished() } catch { precondition(error is CancellationError, "\(error)") }
    }
}

extension TaskOperationQueue {
    /// Suspends until the end of the work, as for an operation.
    fileprivate func suspendUntilEnd() async {
        do {
            try await waitUntilAllOperationsAreFinished()
        } catch {
            precondition(error is CancellationError, "\(error)")
        }
    }
}

extension Model.Outcome {
    init(of operation: AnyTaskOperation) {
        guard let failure = operation.failure else {
            self = .value
            return
        }
        switch failure {
        case is CancellationError: self = .cancelled
        case TaskOperationError.dependencyFailed: self = .dependencyFailed
        case TaskOperationError.notReady: self = .notReady
        case TaskOperationError.queueShutDown: self = .queueShutDown
        case TaskOperationError.queueFull: self = .queueFull
        case TaskOperationError.dropped: self = .dropped
        case TaskOperationError.waitCycle: self = .waitCycle
        default: self = .failure
        }
    }
}
