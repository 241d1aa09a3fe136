import Synchronization
import TaskOperationsExtras

/// Transforms inputs, 8 at once. The results have the order of the inputs, and the first error ends everything.
func transformAll<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
    transform: @escaping @Sendable (Input) async throws -> Output
) async throws -> [Output] {
    let done = Mutex(0)
    return try await inputs.concurrentMap(maxConcurrentOperationCount: 8) { input in
        let output = try await transform(input)
        done.withLock { done in
            done += 1
            progress(done, inputs.count)
        }
        return output
    }
}

/// At most 8 inputs are taken and unfinished.
func transformAll<Inputs: AsyncSequence & Sendable, Output: Sendable>(
    _ inputs: Inputs, progress: (_ done: Int) -> Void,
    transform: @escaping @Sendable (Inputs.Element) async throws -> Output
) async throws -> [Output] where Inputs.Element: Sendable {
    var outputs: [Output] = []
    for try await output in inputs.concurrentMap(maxConcurrentOperationCount: 8, transform) {
        outputs.append(output)
        progress(outputs.count)
    }
    return outputs
}
