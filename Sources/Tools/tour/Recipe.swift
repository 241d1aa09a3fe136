package import MigrationExamplesSupport

/// A piece of work in two versions: before and after the port.
package struct Recipe: Sendable {
    /// The side before the port, which blocks the thread that calls it.
    package typealias LegacySide = @Sendable (RecipeInput) throws -> RecipeResult
    /// The side after the port, which is awaited.
    package typealias PortedSide = @Sendable (RecipeInput) async throws -> RecipeResult

    /// The name of the recipe, from the function of both sides: `width-limited-batch` for `widthLimitedBatch`.
    package let name: String
    package let legacy: LegacySide
    package let ported: PortedSide

    /// Creates a recipe from its two sides.
    package init(_ name: String, _ legacy: @escaping LegacySide, _ ported: @escaping PortedSide) {
        self.name = name
        self.legacy = legacy
        self.ported = ported
    }
}
