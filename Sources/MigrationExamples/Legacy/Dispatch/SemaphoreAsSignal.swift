import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Makes a library that calls back look as if it returned.
    public static func semaphoreAsSignal(_ input: RecipeInput) throws -> RecipeResult {
        // region: semaphore-as-signal
        let reader = CallbackReader()
        var digests = DigestList()
        for file in input.files.prefix(5) {
            let contents = readHead(of: file, with: reader)
            digests.add(file, contents.map { SHA256.digest(of: $0) })
        }
        return digests.result
        // endregion
    }
}

// region: semaphore-as-signal-wait
private func readHead(of file: InputFile, with reader: CallbackReader) -> Result<[UInt8], Error> {
    let isDone = DispatchSemaphore(value: 0)
    let box = Box()
    reader.readHead(of: file) { contents in
        box.contents = contents
        isDone.signal()
    }
    isDone.wait()
    return box.contents!
}

/// Written by the reader's thread before the signal, and read after it.
private final class Box: @unchecked Sendable {
    var contents: Result<[UInt8], Error>?
}
// endregion
