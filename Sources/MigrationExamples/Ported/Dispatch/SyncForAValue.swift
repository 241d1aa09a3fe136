public import MigrationExamplesSupport

extension Ported {
    /// Fills an index, and reads values from it.
    public static func syncForAValue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: sync-for-a-value
        let index = SizeIndex()
        for file in input.files { await index.add(file) }
        return RecipeResult("\(await index.count) files, the largest has \(await index.largest) bytes")
        // endregion
    }
}

// region: sync-for-a-value-index
private actor SizeIndex {
    private var sizes: [Int] = []

    func add(_ file: InputFile) {
        sizes.append(file.size)
    }

    var count: Int { sizes.count }

    var largest: Int { sizes.max() ?? 0 }
}
// endregion
