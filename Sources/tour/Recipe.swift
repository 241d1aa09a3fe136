package import MigrationExamplesSupport

/// A piece of work in two versions: before and after the port.
package struct Recipe: Sendable {
    /// A side that blocks the thread that calls it.
    package typealias LegacySide = @Sendable (RecipeInput) throws -> RecipeResult
    /// A side that is awaited.
    package typealias PortedSide = @Sendable (RecipeInput) async throws -> RecipeResult

    /// The name of the function on both sides, as `width-limited-batch` for `widthLimitedBatch`.
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
