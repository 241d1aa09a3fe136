import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Lets one operation after the other change an object without a lock.
    public static func serialQueue(_ input: RecipeInput) throws -> RecipeResult {
        // region: serial-queue
        let log = SerialLog()
        for file in input.sample { log.append("\(file.name): \(file.lineCount())") }
        let lines = log.all
        return RecipeResult("\(lines.count) lines, last \(lines.last ?? "none")")
        // endregion
    }
}

// region: serial-queue-log
/// `lines` is reached on the queue only, which does one thing at a time.
private final class SerialLog: @unchecked Sendable {
    private let queue = OperationQueue()
    private var lines: [String] = []

    init() {
        queue.maxConcurrentOperationCount = 1
    }

    func append(_ line: String) {
        queue.addOperation { self.lines.append(line) }
    }

    var all: [String] {
        nonisolated(unsafe) var copy: [String] = []  // written before the wait is over, read after it
        let read = BlockOperation { copy = self.lines }
        queue.addOperations([read], waitUntilFinished: true)
        return copy
    }
}
// endregion
