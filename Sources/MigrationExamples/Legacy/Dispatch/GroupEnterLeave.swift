import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Lets a library with callbacks read files, and continues after the callbacks of all.
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
