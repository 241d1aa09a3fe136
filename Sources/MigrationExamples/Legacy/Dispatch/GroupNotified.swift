import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files, and reports on the main queue when all are done.
    public static func groupNotified(_ input: RecipeInput) throws -> RecipeResult {
        // region: group-notified
        let queue = DispatchQueue(label: "digests", attributes: .concurrent)
        let group = DispatchGroup()
        let digests = DigestJournal()
        let report = Journal()
        let isReported = DispatchSemaphore(value: 0)
        for file in input.files.prefix(40) {
            queue.async(group: group) {
                digests.add(file, Result { try file.headDigest() })
            }
        }
        group.notify(queue: .main) {
            report.write(digests.result.text)
            isReported.signal()
        }
        isReported.wait()
        return report.result
        // endregion
    }
}
