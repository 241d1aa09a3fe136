import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files, those of small ones more urgently.
    public static func globalQueues(_ input: RecipeInput) throws -> RecipeResult {
        // region: global-queues
        let digests = DigestJournal()
        let group = DispatchGroup()
        for file in input.files.prefix(40) {
            let qos: DispatchQoS.QoSClass = file.size < 16 * 1024 ? .userInitiated : .utility
            group.enter()
            DispatchQueue.global(qos: qos).async {
                digests.add(file, Result { try file.headDigest() })
                group.leave()
            }
        }
        group.wait()
        return digests.result
        // endregion
    }
}
