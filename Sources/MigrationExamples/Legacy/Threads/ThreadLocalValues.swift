import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Handles requests on a thread each, which a function far below knows of.
    public static func threadLocalValues(_ input: RecipeInput) throws -> RecipeResult {
        // region: thread-local-values
        let log = Journal()
        let requests = DispatchGroup()
        for (number, file) in input.files.prefix(5).enumerated() {
            requests.enter()
            Thread.detachNewThread {
                Thread.current.threadDictionary["request"] = number + 1
                handle(file, log)
                requests.leave()
            }
        }
        requests.wait()
        return RecipeResult(log.lines.sorted().joined(separator: ", "))
        // endregion
    }
}

// region: thread-local-values-log
private func handle(_ file: InputFile, _ log: Journal) {
    write("\(file.size) bytes", to: log)
}

private func write(_ text: String, to log: Journal) {
    let request = Thread.current.threadDictionary["request"] as? Int ?? 0
    log.write("request \(request): \(text)")
}
// endregion
