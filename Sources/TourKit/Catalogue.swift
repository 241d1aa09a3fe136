import MigrationExamplesLegacy
import MigrationExamplesPorted

extension Recipe {
    /// Every recipe, in the order in which the tour shows them.
    package static let catalogue = [
        Recipe("width-limited-batch", Legacy.widthLimitedBatch, Ported.widthLimitedBatch),
        Recipe("dependency-graph", Legacy.dependencyGraph, Ported.dependencyGraph),
        Recipe("cancelled-downloads", Legacy.cancelledDownloads, Ported.cancelledDownloads),
    ]
}
