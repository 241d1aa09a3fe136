import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills an index in the background, and asks it for values.
    public static func syncForAValue(_ input: RecipeInput) throws -> RecipeResult {
        // region: sync-for-a-value
        let index = SizeIndex()
        for file in input.files { index.add(file) }
        return RecipeResult("\(index.count) files, the largest has \(index.largest) bytes")
        // endregion
    }
}

// region: sync-for-a-value-index
private final class SizeIndex {
    private let queue = DispatchQueue(label: "index")
    private var sizes: [Int] = []

    func add(_ file: InputFile) {
        queue.async { self.sizes.append(file.size) }
    }

    var count: Int { queue.sync { sizes.count } }

    var largest: Int { queue.sync { sizes.max() ?? 0 } }
}
// endregion
