extension Patterns {
    /// `Operation`, its subclasses and its members.
    static let operations: [Pattern] = [
        Pattern(
            "operation-subclass", .operations, "Operation subclass with main()", recipe: "Operations/Operation.main",
            .callers, .leaves, "Becomes a TaskOperationBody, which returns the result that main() used to write.",
            .analysis),
        Pattern(
            "operation-subclass-asynchronous", .operations, "Operation subclass with start() and states",
            recipe: "Operations/isAsynchronous", .thought, .leaves,
            "Becomes an async body, or a TaskOperation(callback:), without states.", .analysis),
        Pattern(
            "operation-state-machine", .operations, "Base class with a state enumeration",
            recipe: "Operations/willChangeValue", .thought, .leaves,
            "Delete it when its last subclass has moved. It needs no replacement.", .analysis),
        Pattern(
            "operation-subclass-derived", .operations, "Subclass of an Operation class of the code base",
            recipe: "Operations/willChangeValue", .callers, .leaves,
            "Becomes a separate body; code that it shares with its base class becomes functions.", .analysis),
        Pattern(
            "operation-subclass-generic", .operations, "Generic Operation subclass",
            recipe: "Operations/NSInvocationOperation", .callers, .leaves,
            "TaskOperation is generic over its result; the subclass becomes a function.", .analysis),
        Pattern(
            "operation-overrides-cancel", .operations, "cancel() overridden", recipe: "Operations/Operation.cancel",
            .callers, .leaves, "Becomes withTaskCancellationHandler, or completion.onCancel.", .analysis),
        Pattern(
            "operation-overrides-ready", .operations, "isReady overridden", recipe: "Operations/OperationCondition",
            .thought, .graphs, "Readiness follows from dependencies: add a dependency on the awaited work.", .analysis),
        Pattern(
            "operation-overrides-completion", .operations, "completionBlock overridden",
            recipe: "Operations/completionBlock", .callers, .leaves,
            "Handlers are added, not set: addCompletionHandler.", .analysis),
        Pattern(
            "operation-overrides-priority", .operations, "queuePriority or qualityOfService overridden",
            recipe: "Operations/queuePriority", .rote, .leaves,
            "No body overrides it: state priority: where the operation is created.", .analysis),
        Pattern(
            "operation-overrides-cancelled", .operations, "isCancelled overridden", recipe: "Operations/isCancelled",
            .thought, .leaves,
            "A body cannot override it. If it means finished, nothing in the operation learns of a cancellation.",
            .analysis),
        Pattern(
            "operation-overrides-dependencies", .operations, "addDependency or removeDependency overridden",
            recipe: "Operations/addDependency", .callers, .graphs,
            "No body overrides them, and dependencies has no observers: move the code to the function that calls them.",
            .analysis),
        Pattern(
            "operation-archived", .operations, "Operation with NSCoding", recipe: "Operations/NSCoding", .callers,
            .leaves, "A Codable body, from which the operation is created again.", .analysis),
        Pattern(
            "operation-delegate", .operations, "Operation with a delegate", recipe: "Systems/DownloadOperation",
            .callers, .leaves, "The body returns the value that the delegate used to receive.", .analysis),
        Pattern(
            "operation-error-property", .operations, "Operation that keeps its error",
            recipe: "Operations/ErrorProperty", .callers, .leaves,
            "Throw it instead; operations that need the value fail with it.", .analysis),
        Pattern(
            "operation-input-property", .operations, "Operation that reads another's result",
            recipe: "Operations/ResultProperty", .callers, .graphs, "after: passes the value, typed.", .analysis),
        Pattern(
            "operation-releases", .operations, "Operation that sets its properties to nil at its end",
            recipe: "Operations/StoredOperations", .rote, .leaves,
            "Not needed: a finished operation keeps only its outcome.",
            .analysis),
        Pattern(
            "operation-throws-when-cancelled", .operations, "Loop that throws when the operation is cancelled",
            recipe: "Operations/CancelledDownloads", .callers, .leaves, "Task.checkCancellation() between the chunks.",
            .analysis),
        Pattern(
            "operation-extension", .operations, "extension Operation", recipe: "Operations/OperationExtension",
            .callers, .leaves, "Write the extension for AnyTaskOperation, or for the body's protocol.", .analysis),
        Pattern(
            "operation-cast", .operations, "Cast of an operation to a subclass", recipe: "Operations/ResultProperty",
            .callers, .graphs, "Not needed: an operation has a typed result. Capture the operation.", .analysis),
        Pattern(
            "operation-dependency-cycle", .operations, "Dependencies that close a cycle",
            recipe: "Operations/addDependencyCycle", .thought, .graphs,
            "addDependency throws dependencyCycle, which names the operations.", .analysis),
        Pattern(
            "operation-dependencies-across-queues", .operations, "Dependencies between operations of two queues",
            recipe: "Operations/addDependencyAcrossQueues", .rote, .graphs, "The same here.", .analysis),
        Pattern(
            "operation-last", .operations, "Operation that only waits for others",
            recipe: "Operations/LastOperation", .callers, .graphs, "Wait for the queue, or use a scope.", .analysis),
        Pattern(
            "operation-conditions", .operations, "Conditions of an operation",
            recipe: "Operations/OperationCondition", .callers, .leaves, "An await at the beginning of the body.",
            .analysis),
        Pattern(
            "operation-graph", .operations, "Several kinds of operations that depend on each other",
            recipe: "Operations/OperationGraph", .thought, .graphs, "after: and dependencies: together.", .analysis),
        Pattern(
            "invocation-operation", .operations, "NSInvocationOperation", recipe: "Operations/NSInvocationOperation",
            .callers, .leaves, "A method reference as the body.",
            .function(["NSInvocationOperation", "InvocationOperation"])),
        Pattern(
            "block-operation", .operations, "BlockOperation", recipe: "Operations/BlockOperation", .rote, .leaves,
            "TaskOperation { … }, or queue.addOperation { … }.", .made([.blockOperation]),
            .member(["blockOperationWithBlock"], of: [.blockOperation])),
        Pattern(
            "operation-made", .operations, "Operation()", recipe: "Operations/BlockOperation", .rote, .leaves,
            "A TaskOperation {} that others depend on.", .made([.operation])),
        Pattern(
            "operation-many-blocks", .operations, "addExecutionBlock", recipe: "Operations/addExecutionBlock", .callers,
            .leaves, "A task group in one body.",
            .member(["addExecutionBlock", "executionBlocks"], of: [.operation]), .message(["addExecutionBlock"])),
        Pattern(
            "operation-dependency", .operations, "addDependency", recipe: "Operations/addDependency", .rote, .graphs,
            "dependencies:, or after: to pass a value.",
            .member(["addDependency", "removeDependency"], of: [.operation], when: [.called]),
            .message(["addDependency", "removeDependency"])),
        Pattern(
            "operation-dependencies", .operations, "dependencies",
            recipe: "TaskOperations.docc/Members#members-of-operation",
            .callers, .graphs, "The same, read-only; empty after the end.",
            .member(["dependencies"], of: [.operation])),
        Pattern(
            "operation-priority", .operations, "queuePriority", recipe: "Operations/queuePriority", .rote, .leaves,
            "priority: of the operation.", .member(["queuePriority"], of: [.operation]),
            .message(["setQueuePriority"]), .function(["QueuePriority"], when: [.on("Operation")]),
            .function(["NSOperationQueuePriority"])),
        Pattern(
            "operation-quality", .operations, "qualityOfService of an operation",
            recipe: "Operations/qualityOfService", .rote, .leaves, "priority: of the operation.",
            .member(
                ["qualityOfService", "setQualityOfService", "threadPriority", "setThreadPriority"], of: [.operation])),
        Pattern(
            "queue-quality", .queues, "qualityOfService of a queue", recipe: "Operations/PriorityCaps", .rote, .queues,
            "priority: of each operation; instead of a queue for each priority, one queue with a limit for a priority.",
            .member(["qualityOfService", "setQualityOfService"], of: [.operationQueue])),
        Pattern(
            "operation-completion", .operations, "completionBlock", recipe: "Operations/completionBlock", .callers,
            .leaves, "The next line after await, or addCompletionHandler.",
            .member(["completionBlock"], of: [.operation]),
            .message(["setCompletionBlock"])),
        Pattern(
            "operation-cancel", .operations, "cancel() of an operation", recipe: "Operations/cancelAllOperations",
            .rote, .leaves, "The same; the body's task is cancelled.",
            .member(["cancel"], of: [.operation], when: [.called])),
        Pattern(
            "operation-start", .operations, "start() by hand", recipe: "Operations/start", .callers, .leaves,
            "try operation.start(), or await the body.", .member(["start", "main"], of: [.operation], when: [.called])),
        Pattern(
            "operation-wait", .operations, "waitUntilFinished()", recipe: "Operations/waitUntilFinished", .thought,
            .callers, "await operation.value; until then waitUntilFinishedBlocking.",
            .member(["waitUntilFinished"], of: [.operation]), .message(["waitUntilFinished"])),
        Pattern(
            "operation-asks-cancelled", .operations, "isCancelled read in an operation",
            recipe: "Operations/isCancelled", .rote, .leaves, "Task.isCancelled, or Task.checkCancellation().",
            .member(["isCancelled"], of: [.operation], when: [.inOperation]),
            .message(["isCancelled"], when: [.inOperation])),
        Pattern(
            "operation-state", .operations, "isFinished, isExecuting, isReady, isCancelled asked",
            recipe: "TaskOperations.docc/Members#members-of-operation", .rote, .leaves, "The same, for reading.",
            .member(
                ["isFinished", "isExecuting", "isReady", "isCancelled", "isAsynchronous", "isConcurrent"],
                of: [.operation], when: [.not(.assigned)])),
        Pattern(
            "operation-observed", .operations, "Key-value observing of states", recipe: "Operations/observeValue",
            .callers, .leaves, "await, or addCompletionHandler.", .analysis),
        Pattern(
            "operation-type", .operations, "Operation as a type",
            recipe: "TaskOperations.docc/Members#members-of-operation",
            .callers, .leaves, "A TaskOperation with its result, or AnyTaskOperation.",
            .named([.operation, .blockOperation])),
        Pattern(
            "operation-name", .operations, "name of an operation",
            recipe: "TaskOperations.docc/Members#members-of-operation",
            .rote, .leaves, "name: where it is made.", .member(["name"], of: [.operation])),
    ]
}
