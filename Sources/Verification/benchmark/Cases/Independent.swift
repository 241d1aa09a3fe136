import Foundation
import TaskOperations

extension Case {
    static let independent = Case(
        "independent", "empty, added one by one from the main thread, width 2",
        sizes: [100_000], subjects: Submission<Empty>.subjects(width: 2))

    /// Adds all operations in one call. Dispatch has no such call, and adds blocks one by one.
    static let independentBatch = Case(
        "independent-batch", "empty, made and then added in one call from the main thread, width 2",
        sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { try await Batch.taskOperationQueue($0) },
            Subject(.operationQueue) { await Batch.operationQueue($0) },
        ] + Submission<Empty>.subjects([.dispatchQueue], width: 2))

    /// The time that the adding thread needs while the queue executes. The other cases also contain the time of the
    /// bodies.
    static let adding = Case(
        "adding", "empty, until the last addition has returned to the main thread, width 2", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                let measurement = await Adding.measure(count) { queue.addOperation {} }
                try await queue.waitUntilAllOperationsAreFinished()
                return measurement
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2)
                let measurement = await Adding.measure(count) { queue.addOperation {} }
                await mainThread.run { queue.waitUntilAllOperationsAreFinished() }
                return measurement
            },
            Subject(.dispatchQueue) { count in
                let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
                let group = DispatchGroup()
                let measurement = await Adding.measure(count) { queue.async(group: group) {} }
                await mainThread.run { group.wait() }
                return measurement
            },
        ])

    static let serial = Case(
        "serial", "empty, one at a time, width 1", sizes: [100_000],
        subjects: Submission<Empty>.subjects(
            [.taskOperationQueue, .operationQueue, .dispatchQueue, .taskGroupNext, .taskGroupSemaphore, .task],
            width: 1))

    /// Dispatch and threads cannot suspend. Subjects without a width run all operations at once.
    static func suspending(width: Int) -> Case {
        Case(
            "suspending", variant: "width \(width)", "suspends once, with Task.yield", sizes: [100_000],
            subjects: Submission<Yielding>.subjects(
                [.taskOperationQueue, .taskGroup, .taskGroupNext, .taskGroupSemaphore, .task], width: width))
    }

    /// Operations that wait. An operation of an `OperationQueue` blocks a thread while it waits. Subjects without a
    /// width are left out, because all their operations would wait at once.
    static let io = Case(
        "io", "takes 1 ms of waiting, width \(ioWidth)", sizes: [10_000],
        subjects: Submission<Sleeping>.subjects(
            [.taskOperationQueue, .operationQueue, .taskGroupNext, .taskGroupSemaphore], width: ioWidth)
            + [
                Subject(.ideal, mostRounds: 1) { count in
                    let turns = (count + ioWidth - 1) / ioWidth
                    return Measurement(.milliseconds(turns * Sleeping.milliseconds), operations: count)
                }
            ])

    private static let ioWidth = 256
}

private enum Adding {
    static func measure(_ count: Int, _ add: @escaping @Sendable () -> Void) async -> Measurement {
        await benchmark.measure(count, on: ()) { _ in
            await mainThread.run { for _ in 0..<count { add() } }
        }
    }
}

private enum Batch {
    static func taskOperationQueue(_ count: Int) async throws -> Measurement {
        try await measure(count, on: TaskOperationQueue(maxConcurrentOperationCount: 2)) { queue in
            await mainThread.run {
                try! queue.addOperations((0..<count).map { _ in TaskOperation {} })  // never rejects new operations
            }
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    static func operationQueue(_ count: Int) async -> Measurement {
        await measure(count, on: OperationQueue(width: 2)) { queue in
            await mainThread.run {
                queue.addOperations((0..<count).map { _ in BlockOperation {} }, waitUntilFinished: true)
            }
        }
    }
}
