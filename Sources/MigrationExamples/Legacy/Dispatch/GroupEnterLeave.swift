import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Has a library read files, which calls back, and goes on when it has called for all.
    public static func groupEnterLeave(_ input: RecipeInput) throws -> RecipeResult {
        // region: group-enter-leave
        let reader = CallbackReader()
        let group = DispatchGroup()
        let digests = DigestJournal()
        for file in input.files.prefix(40) {
            group.enter()
            reader.readHead(of: file) { contents in
                digests.add(file, contents.map { SHA256.digest(of: $0) })
                group.leave()
            }
        }
        group.wait()
        return digests.result
        // endregion
    }
}
