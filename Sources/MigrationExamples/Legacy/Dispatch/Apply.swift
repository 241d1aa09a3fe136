import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files with all processors.
    public static func apply(_ input: RecipeInput) throws -> RecipeResult {
        // region: apply
        let files = Array(input.files.prefix(40))
        var digests = [Result<Digest, Error>?](repeating: nil, count: files.count)
        digests.withUnsafeMutableBufferPointer { slots in
            DispatchQueue.concurrentPerform(iterations: files.count) { index in
                slots[index] = Result { try files[index].headDigest() }
            }
        }

        var list = DigestList()
        for (file, digest) in zip(files, digests) { list.add(file, digest!) }
        return list.result
        // endregion
    }
}
