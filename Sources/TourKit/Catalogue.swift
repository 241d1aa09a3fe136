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
        Recipe("many-blocks", Legacy.manyBlocks, Ported.manyBlocks),
        Recipe("invocation-operation", Legacy.invocationOperation, Ported.invocationOperation),
        Recipe("synchronous-subclass", Legacy.synchronousSubclass, Ported.synchronousSubclass),
        Recipe("asynchronous-subclass", Legacy.asynchronousSubclass, Ported.asynchronousSubclass),
        Recipe("cancelling-in-loop", Legacy.cancellingInLoop, Ported.cancellingInLoop),
        Recipe("cancelling-network-call", Legacy.cancellingNetworkCall, Ported.cancellingNetworkCall),
        Recipe("state-machine", Legacy.stateMachine, Ported.stateMachine),
        Recipe("observing-states", Legacy.observingStates, Ported.observingStates),
        Recipe("dependencies", Legacy.dependencies, Ported.dependencies),
        Recipe("cross-queue-dependencies", Legacy.crossQueueDependencies, Ported.crossQueueDependencies),
        Recipe("dependency-cycle", Legacy.dependencyCycle, Ported.dependencyCycle),
        Recipe("queue-priority", Legacy.queuePriority, Ported.queuePriority),
        Recipe("quality-of-service", Legacy.qualityOfService, Ported.qualityOfService),
        Recipe("completion-block", Legacy.completionBlock, Ported.completionBlock),
        Recipe("passing-results", Legacy.passingResults, Ported.passingResults),
        Recipe("errors", Legacy.errors, Ported.errors),
        Recipe("starting-by-hand", Legacy.startingByHand, Ported.startingByHand),
        Recipe("adding-operations", Legacy.addingOperations, Ported.addingOperations),
        Recipe("serial-queue", Legacy.serialQueue, Ported.serialQueue),
        Recipe("thread-pool", Legacy.threadPool, Ported.threadPool),
        Recipe("cancelling", Legacy.cancelling, Ported.cancelling),
        Recipe("waiting", Legacy.waiting, Ported.waiting),
        Recipe("suspension", Legacy.suspension, Ported.suspension),
        Recipe("work-size", Legacy.workSize, Ported.workSize),
        Recipe("batches", Legacy.batches, Ported.batches),
        Recipe("releasing-operations", Legacy.releasingOperations, Ported.releasingOperations),
        Recipe("barrier-blocks", Legacy.barrierBlocks, Ported.barrierBlocks),
        Recipe("progress", Legacy.progress, Ported.progress),
    ]

    private static let dispatch: [Recipe] = []

    private static let threads: [Recipe] = []

    private static let systems: [Recipe] = []
}
