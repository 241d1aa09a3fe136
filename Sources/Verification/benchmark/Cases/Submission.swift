import Foundation
import TaskOperations

/// Operations without dependencies, added one by one, for each subject.
///
/// The main thread adds to every subject that has a synchronous interface. A task group has none. A task on the pool
/// adds to it, which is its fastest way.
enum Submission<Work: Body> {
    static func subjects(_ names: [SubjectName] = SubjectName.allCases, width: Int) -> [Subject] {
        names.compactMap { subject($0, width) }
    }

    private static func subject(_ name: SubjectName, _ width: Int) -> Subject? {
        switch name {
        case .taskOperationQueue: Subject(name) { try await taskOperationQueue($0, width) }
        case .operationQueue: Subject(name) { await operationQueue($0, width) }
        case .dispatchQueue: Subject(name) { await dispatchQueue($0, isSerial: width == 1) }
        case .taskGroup: Subject(name) { await taskGroup($0) }
        case .taskGroupNext: Subject(name) { await taskGroupNext($0, width) }
        case .taskGroupSemaphore: Subject(name) { await taskGroupSemaphore($0, width) }
        case .task: Subject(name) { await task($0, isSerial: width == 1) }
        default: nil
        }
    }

    private static func taskOperationQueue(_ count: Int, _ width: Int) async throws -> Measurement {
        try await measure(count, on: TaskOperationQueue(maxConcurrentOperationCount: width)) { queue in
            await mainThread.run {
                for _ in 0..<count { queue.addOperation { await Work.run() } }
            }
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    private static func operationQueue(_ count: Int, _ width: Int) async -> Measurement {
        await measure(count, on: OperationQueue(width: width)) { queue in
            await mainThread.run {
                for _ in 0..<count { queue.addOperation { Work.block() } }
                queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    private static func dispatchQueue(_ count: Int, isSerial: Bool) async -> Measurement {
        let queue = DispatchQueue(label: "benchmark", attributes: isSerial ? [] : .concurrent)
        return await measure(count, on: (queue, DispatchGroup())) { queue, group in
            await mainThread.run {
                for _ in 0..<count { queue.async(group: group) { Work.block() } }
                group.wait()
            }
        }
    }

    private static func taskGroup(_ count: Int) async -> Measurement {
        await measure(count, on: ()) {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { await Work.run() } }
            }
        }
    }

    private static func taskGroupNext(_ count: Int, _ width: Int) async -> Measurement {
        await measure(count, on: ()) {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= width { await group.next() }
                    group.addTask { await Work.run() }
                }
            }
        }
    }

    private static func taskGroupSemaphore(_ count: Int, _ width: Int) async -> Measurement {
        await measure(count, on: AsyncSemaphore(capacity: width)) { semaphore in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { _ = try? await semaphore.withPermit { await Work.run() } }
                }
            }
        }
    }

    private static func task(_ count: Int, isSerial: Bool) async -> Measurement {
        await measure(count, on: Keeper<[Task<Void, Never>]>()) { keeper in
            let tasks = await mainThread.run { isSerial ? oneAfterAnother(count) : allAtOnce(count) }
            for task in tasks { await task.value }
            keeper.keep(tasks)
        }
    }

    private static func allAtOnce(_ count: Int) -> [Task<Void, Never>] {
        (0..<count).map { _ in Task.detached { await Work.run() } }
    }

    private static func oneAfterAnother(_ count: Int) -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<count {
            let previous = tasks.last
            tasks.append(
                Task.detached {
                    await previous?.value
                    await Work.run()
                })
        }
        return tasks
    }
}

extension OperationQueue {
    convenience init(width: Int, isSuspended: Bool = false) {
        self.init()
        maxConcurrentOperationCount = width
        self.isSuspended = isSuspended
    }
}
