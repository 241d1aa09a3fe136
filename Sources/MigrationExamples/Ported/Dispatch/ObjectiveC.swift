public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads half of the files with a wrapped class, and the other half with a translated class.
    public static func objectiveC(_ input: RecipeInput) async throws -> RecipeResult {
        // region: objective-c
        let (wrapped, translated) = (CallbackReader(), HeadReader())
        var bytes = 0
        for (number, file) in input.files.enumerated() {
            try Task.checkCancellation()  // `try?` ignores it
            let head =
                number.isMultiple(of: 2) ? try? await wrapped.head(of: file) : try? await translated.head(of: file)
            bytes += head?.count ?? 0
        }
        return RecipeResult("\(bytes) bytes read")
        // endregion
    }
}

// region: objective-c-wrapped
extension CallbackReader {
    /// Wraps the method that calls back, beside it: old callers keep it. The class cannot cancel a read, so a caller that
    /// is cancelled waits for the answer.
    fileprivate func head(of file: InputFile) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            readHead(of: file) { continuation.resume(with: $0) }
        }
    }
}
// endregion

// region: objective-c-translated
private struct HeadReader {
    // Belongs to the object. A caller that is cancelled cancels its own operation, because it calls `run`.
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    func head(of file: InputFile) async throws -> [UInt8] {
        try await queue.run { try file.contents(upTo: 4096) }
    }
}
// endregion
