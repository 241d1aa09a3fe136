import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts lines, most of them in the background, and always has room for urgent work.
    public static func priorityCaps(_ input: RecipeInput) throws -> RecipeResult {
        // region: priority-caps
        let (background, urgent) = (OperationQueue(), OperationQueue())
        background.maxConcurrentOperationCount = 1
        background.qualityOfService = .background
        urgent.maxConcurrentOperationCount = 3
        urgent.qualityOfService = .userInitiated
        let (lines, meter) = (SharedCount(), WorkMeter())
        for (number, file) in input.sample.enumerated() {
            if number.isMultiple(of: 10) {
                urgent.addOperation { lines.add(file.lineCount()) }
            } else {
                background.addOperation { meter.measure { lines.add(file.lineCount()) } }
            }
        }
        [urgent, background].forEach { $0.waitUntilAllOperationsAreFinished() }
        return RecipeResult("\(lines.total) lines, at most \(meter.most) in the background at once")
        // endregion
    }
}
