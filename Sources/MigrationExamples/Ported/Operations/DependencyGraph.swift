public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads and digests files in operations that depend on each other: list → read → digest → merge → report.
    public static func dependencyGraph(_ input: RecipeInput) async throws -> RecipeResult {
        // region: dependency-graph
        try await withTaskOperationQueue(name: "graph", maxConcurrentOperationCount: 4, failures: .ignore) { queue in
            let list = queue.addOperation(name: "list") { input.files.sorted { $0.size > $1.size } }

            let digests = try await list.value.map { file in
                let read = queue.addOperation(name: "read \(file.name)") { try file.contents(upTo: sampleSize) }
                // An urgent digest makes the read that it waits for as urgent.
                let priority: TaskPriority = file.size < 16 * 1024 ? .high : .medium
                let digest = queue.addOperation(name: "digest", priority: priority, after: read) {
                    SHA256.digest(of: $0)
                }
                return (file, digest)
            }

            // Runs after any outcomes of the digests: a file that cannot be read must not affect the others.
            let merge = queue.addOperation(name: "merge", dependencies: digests.map(\.1)) {
                var list = DigestList()
                for (file, digest) in digests { list.add(file, await digest.result.mapError(\.cause)) }
                return list
            }
            let report = queue.addOperation(name: "report", after: merge) { $0.result }
            let result = await report.result
            try Task.checkCancellation()  // says more than that the merge had none of its inputs
            return try result.get()
        }
        // endregion
    }
}

// region: dependency-graph-cause
extension Error {
    /// The error of an operation whose dependent failed because it has no value.
    fileprivate var cause: any Error {
        if case .dependencyFailed(_, _, let error) = self as? TaskOperationError { error } else { self }
    }
}
// endregion

/// The maximum number of bytes to read from each file, so that a folder of disk images does not exhaust the memory.
private let sampleSize = 4 * 1024 * 1024
