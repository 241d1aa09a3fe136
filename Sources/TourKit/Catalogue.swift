import MigrationExamplesLegacy
import MigrationExamplesPorted

extension Recipe {
    /// Every recipe, in the order in which the tour and Migration.md show them.
    package static let catalogue = operations + dispatch + threads + systems

    private static let operations = [
        Recipe("width-limited-batch", Legacy.widthLimitedBatch, Ported.widthLimitedBatch),
        Recipe("dependency-graph", Legacy.dependencyGraph, Ported.dependencyGraph),
        Recipe("cancelled-downloads", Legacy.cancelledDownloads, Ported.cancelledDownloads),
        Recipe("block-operation", Legacy.blockOperation, Ported.blockOperation),
        Recipe("synchronous-subclass", Legacy.synchronousSubclass, Ported.synchronousSubclass),
        Recipe("dependencies", Legacy.dependencies, Ported.dependencies),
        Recipe("queue-priority", Legacy.queuePriority, Ported.queuePriority),
        Recipe("completion-block", Legacy.completionBlock, Ported.completionBlock),
        Recipe("cancelling", Legacy.cancelling, Ported.cancelling),
        Recipe("suspension", Legacy.suspension, Ported.suspension),
        Recipe("barrier-blocks", Legacy.barrierBlocks, Ported.barrierBlocks),
        Recipe("waiting", Legacy.waiting, Ported.waiting),
    ]

    private static let dispatch: [Recipe] = []

    private static let threads: [Recipe] = []

    private static let systems = [
        Recipe("image-downloader", Legacy.imageDownloader, Ported.imageDownloader),
        Recipe("photo-manager", Legacy.photoManager, Ported.photoManager),
        Recipe("ticket-office", Legacy.ticketOffice, Ported.ticketOffice),
        Recipe("download-operation", Legacy.downloadOperation, Ported.downloadOperation),
    ]
}
