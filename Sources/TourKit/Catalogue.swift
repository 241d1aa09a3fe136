import MigrationExamplesLegacy
import MigrationExamplesPorted

extension Recipe {
    /// Every recipe, in the order in which the tour shows them.
    package static let catalogue = operations + advanced + dispatch + threads + systems

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
        Recipe("queue-subclass", Legacy.queueSubclass, Ported.queueSubclass),
        Recipe("operation-conditions", Legacy.operationConditions, Ported.operationConditions),
        Recipe("operation-protocol", Legacy.operationProtocol, Ported.operationProtocol),
        Recipe("last-operation", Legacy.lastOperation, Ported.lastOperation),
    ]

    private static let advanced = [
        Recipe("evaluated-condition", Legacy.evaluatedCondition, Ported.evaluatedCondition),
        Recipe("mutual-exclusion", Legacy.mutualExclusion, Ported.mutualExclusion),
        Recipe("group-operation", Legacy.groupOperation, Ported.groupOperation),
        Recipe("retry-operation", Legacy.retryOperation, Ported.retryOperation),
        Recipe("timeout-observer", Legacy.timeoutObserver, Ported.timeoutObserver),
        Recipe("block-observer", Legacy.blockObserver, Ported.blockObserver),
        Recipe("reachability-condition", Legacy.reachabilityCondition, Ported.reachabilityCondition),
        Recipe("produced-operations", Legacy.producedOperations, Ported.producedOperations),
        Recipe("cancelled-with-reason", Legacy.cancelledWithReason, Ported.cancelledWithReason),
    ]

    private static let dispatch = [
        Recipe("background-and-back", Legacy.backgroundAndBack, Ported.backgroundAndBack),
        Recipe("sync-for-a-value", Legacy.syncForAValue, Ported.syncForAValue),
        Recipe("serial-queue-as-lock", Legacy.serialQueueAsLock, Ported.serialQueueAsLock),
        Recipe("concurrent-queue", Legacy.concurrentQueue, Ported.concurrentQueue),
        Recipe("main-queue", Legacy.mainQueue, Ported.mainQueue),
        Recipe("global-queues", Legacy.globalQueues, Ported.globalQueues),
        Recipe("group-waited-for", Legacy.groupWaitedFor, Ported.groupWaitedFor),
        Recipe("group-notified", Legacy.groupNotified, Ported.groupNotified),
        Recipe("group-enter-leave", Legacy.groupEnterLeave, Ported.groupEnterLeave),
        Recipe("readers-and-writers", Legacy.readersAndWriters, Ported.readersAndWriters),
        Recipe("apply", Legacy.apply, Ported.apply),
        Recipe("after", Legacy.after, Ported.after),
        Recipe("once", Legacy.once, Ported.once),
        Recipe("semaphore-as-limit", Legacy.semaphoreAsLimit, Ported.semaphoreAsLimit),
        Recipe("semaphore-as-signal", Legacy.semaphoreAsSignal, Ported.semaphoreAsSignal),
        Recipe("work-item-cancelled", Legacy.workItemCancelled, Ported.workItemCancelled),
        Recipe("work-item-notified", Legacy.workItemNotified, Ported.workItemNotified),
        Recipe("timer-source", Legacy.timerSource, Ported.timerSource),
        Recipe("signal-source", Legacy.signalSource, Ported.signalSource),
        Recipe("descriptor-source", Legacy.descriptorSource, Ported.descriptorSource),
        Recipe("process-source", Legacy.processSource, Ported.processSource),
        Recipe("custom-source", Legacy.customSource, Ported.customSource),
        Recipe("sync-on-own-queue", Legacy.syncOnOwnQueue, Ported.syncOnOwnQueue),
        Recipe("target-queues", Legacy.targetQueues, Ported.targetQueues),
        Recipe("semaphore-as-lock", Legacy.semaphoreAsLock, Ported.semaphoreAsLock),
        Recipe("suspended-source", Legacy.suspendedSource, Ported.suspendedSource),
        Recipe("rearmed-timer", Legacy.rearmedTimer, Ported.rearmedTimer),
    ]

    private static let threads = [
        Recipe("detach-thread", Legacy.detachThread, Ported.detachThread),
        Recipe("blocking-thread", Legacy.blockingThread, Ported.blockingThread),
        Recipe("perform-on-main", Legacy.performOnMain, Ported.performOnMain),
        Recipe("perform-on-thread", Legacy.performOnThread, Ported.performOnThread),
        Recipe("perform-after-delay", Legacy.performAfterDelay, Ported.performAfterDelay),
        Recipe("perform-cancelled", Legacy.performCancelled, Ported.performCancelled),
        Recipe("unlocked-tickets", Legacy.unlockedTickets, Ported.unlockedTickets),
        Recipe("tickets-with-lock", Legacy.ticketsWithLock, Ported.ticketsWithLock),
        Recipe("tickets-with-condition", Legacy.ticketsWithCondition, Ported.ticketsWithCondition),
        Recipe("tickets-with-synchronized", Legacy.ticketsWithSynchronized, Ported.ticketsWithSynchronized),
        Recipe("condition-in-order", Legacy.conditionInOrder, Ported.conditionInOrder),
        Recipe("thread-local-values", Legacy.threadLocalValues, Ported.threadLocalValues),
        Recipe("block-list-thread", Legacy.blockListThread, Ported.blockListThread),
        Recipe("blocking-callbacks", Legacy.blockingCallbacks, Ported.blockingCallbacks),
    ]

    private static let systems = [
        Recipe("image-downloader", Legacy.imageDownloader, Ported.imageDownloader),
        Recipe("photo-manager", Legacy.photoManager, Ported.photoManager),
        Recipe("ticket-office", Legacy.ticketOffice, Ported.ticketOffice),
        Recipe("download-operation", Legacy.downloadOperation, Ported.downloadOperation),
    ]
}
