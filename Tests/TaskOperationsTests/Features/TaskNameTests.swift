import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The names of tasks", .inTurns)
struct TaskNameTests {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("the task of a body has the name of its queue", arguments: ["images", nil])
    func workers(name: String?) async throws {
        let executors: [(any TaskExecutor)?] = [nil, globalConcurrentExecutor, InlineExecutor()]
        for executor in executors {
            let queue = TaskOperationQueue(.init(name: name, executor: executor))
            #expect(try await queue.addOperation { Task.name }.value == name)
            #expect(try await queue.addOperation { @MainActor in Task.name }.value == name)
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("the task of a body in a scope has the name of the scope, and other tasks keep their names")
    func scope() async throws {
        let executors: [(any TaskExecutor)?] = [nil, globalConcurrentExecutor]
        for executor in executors {
            let names = try await Task(name: "caller") {
                try await withTaskOperationQueue(
                    .init(name: "scope", maxConcurrentOperationCount: 2, executor: executor)
                ) {
                    queue in
                    let operations = (0..<4).map { _ in queue.addOperation { Task.name } }
                    var names: [String?] = [Task.name]
                    for operation in operations { names.append(try await operation.value) }
                    return names
                }
            }.value
            #expect(names == ["caller", "scope", "scope", "scope", "scope"])
        }
    }

    // In Swift 6.3, a child task with a name does not inherit its parent's executor preference.
    @Test("a scope with a name runs bodies on the executor that its task prefers")
    func preferredExecutor() async throws {
        let executor = ThreadExecutor()
        let executors = try await withTaskExecutorPreference(executor) {
            try await withTaskOperationQueue(name: "scope", maxConcurrentOperationCount: 2) { queue in
                let operations = (0..<4).map { _ in
                    queue.addOperation { withUnsafeCurrentTask { $0?.unownedTaskExecutor } }
                }
                var executors: [UnownedTaskExecutor?] = []
                for operation in operations { executors.append(try await operation.value) }
                return executors
            }
        }
        #expect(executors.allSatisfy { $0 == executor.asUnownedTaskExecutor() })
    }
}
