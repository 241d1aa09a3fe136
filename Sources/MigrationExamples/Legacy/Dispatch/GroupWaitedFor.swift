import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files, and continues when all are done.
    public static func groupWaitedFor(_ input: RecipeInput) throws -> RecipeResult {
        // region: group-waited-for
        let queue = DispatchQueue(label: "digests", attributes: .concurrent)
        let group = DispatchGroup()
        let digests = DigestJournal()
        for file in input.files.prefix(40) {
            queue.async(group: group) {
                digests.add(file, Result { try file.headDigest() })
            }
        }
        group.wait()
        return digests.result
        // endregion
    }
}
