import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files with all processors.
    public static func apply(_ input: RecipeInput) throws -> RecipeResult {
        // region: apply
        let files = Array(input.files.prefix(40))
        let done = SharedCount()
        var digests = [Result<Digest, Error>?](repeating: nil, count: files.count)
        digests.withUnsafeMutableBufferPointer { slots in
            DispatchQueue.concurrentPerform(iterations: files.count) { index in
                slots[index] = Result { try files[index].headDigest() }
                done.add(1)  // for a progress bar
            }
        }

        var list = DigestList()
        for (file, digest) in zip(files, digests) { list.add(file, digest!) }
        let fraction = files.isEmpty ? 1 : Double(done.total) / Double(files.count)
        return list.result.adding(["progress \(fraction)"])
        // endregion
    }
}
