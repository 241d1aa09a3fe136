import TaskOperations

struct BuildTarget: Sendable {
    let name: String
    let dependencies: [String]
}

struct BuildResult<Output: Sendable>: Sendable {
    var outputs: [String: Output] = [:]
    var failures: [String: any Error] = [:]
    var notBuilt: [String] = []
}

struct UnknownTarget: Error {
    let name: String
}

/// Builds a graph of targets that is read from data in any order. A failure stops only what depends on it.
///
/// Throws `TaskOperationError.dependencyCycle`, with the names of the targets, if the graph has a cycle.
func buildAll<Output: Sendable>(
    _ targets: [BuildTarget], maxConcurrentCount: Int,
    build: @escaping @Sendable (_ target: String, _ inputs: [String: Output]) async throws -> Output
) async throws -> BuildResult<Output> {
    let operations = targets.map { target in
        TaskOperation<Output>(name: target.name, after: [TaskOperation<Output>]()) { outputs in
            let inputs = Dictionary(zip(target.dependencies, outputs)) { first, _ in first }
            return try await build(target.name, inputs)
        }
    }
    let named = Dictionary(uniqueKeysWithValues: operations.map { ($0.name!, $0) })
    for (target, operation) in zip(targets, operations) {
        for name in target.dependencies {
            guard let input = named[name] else { throw UnknownTarget(name: name) }
            try operation.addInput(input)
        }
    }

    try await withTaskOperationQueue(
        name: "build", maxConcurrentOperationCount: maxConcurrentCount, failures: .ignore
    ) { queue in
        try queue.addOperations(operations)
    }

    var result = BuildResult<Output>()
    for operation in operations {
        switch operation.outcome! {
        case .success(let output): result.outputs[operation.name!] = output
        case .failure(TaskOperationError.dependencyFailed), .failure(is CancellationError):
            result.notBuilt.append(operation.name!)
        case .failure(let error): result.failures[operation.name!] = error
        }
    }
    return result
}
