extension PatternExample {
    static let advanced = [
        PatternExample(
            "advanced-condition", has: ["struct IsText: OperationCondition { func evaluate() {} }"],
            hasNot: ["class A: NSCondition {}", "protocol Condition {}", "struct A: Condition {}"]),
        PatternExample(
            "advanced-waiting-condition", has: ["struct ReachabilityCondition: OperationCondition {}"],
            hasNot: ["struct IsText: OperationCondition {}", "struct Reachability {}"]),
        PatternExample(
            "advanced-exclusion",
            has: ["struct MutuallyExclusive: OperationCondition {}", "class ExclusivityController {}"],
            hasNot: ["struct Exclusive {}", "struct IsText: OperationCondition {}"]),
        PatternExample(
            "advanced-group", has: ["class Group: Operation { let queue = OperationQueue() }"],
            hasNot: ["class Group { let queue = OperationQueue() }", "class A: Operation { let queue = Queue() }"]),
        PatternExample(
            "advanced-retry",
            has: ["class RetryOperation: Operation {}", "class Load: Operation { var attempts = 3 }"],
            hasNot: ["class Load: Operation { var count = 3 }", "class Load { var attempts = 3 }"]),
        PatternExample(
            "advanced-timeout", has: ["struct TimeoutObserver: OperationObserver {}"],
            hasNot: ["struct BlockObserver: OperationObserver {}", "struct Timeout {}"]),
        PatternExample(
            "advanced-observer", has: ["struct BlockObserver: OperationObserver {}"],
            hasNot: ["struct TimeoutObserver: OperationObserver {}", "class A: Observer {}"]),
        PatternExample(
            "advanced-produced",
            has: ["o.produceOperation(next)", "operation.produce(BlockOperation { })"],
            hasNot: ["factory.produce(1)", "produceOperation(next)"]),
        PatternExample(
            "advanced-cancel-reason",
            has: [
                "o.cancelWithError(error)", "func cancel(with e: Error) {}; for o in zip(a, b) { o.cancel(with: e) }",
                "func f(_ o: Operation) { o.cancel(with: error) }",
            ],
            hasNot: ["func f(_ o: Operation) { o.cancel() }", "func f(_ t: Task) { t.cancel(with: error) }"]),
    ]
}
