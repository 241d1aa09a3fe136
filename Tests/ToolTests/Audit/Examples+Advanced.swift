extension PatternExample {
    /// An operation class with conditions and observers.
    private static let base =
        "class Work: Operation { var conditions: [OperationCondition]; var observers: [OperationObserver] }; "

    static let advanced = [
        PatternExample(
            "advanced-condition", has: [base + "struct IsText: OperationCondition { func evaluate() {} }"],
            hasNot: ["class A: NSCondition {}", "protocol Condition {}", base + "struct A: Condition {}"]),
        PatternExample(
            "advanced-waiting-condition", has: [base + "struct ReachabilityCondition: OperationCondition {}"],
            hasNot: [base + "struct IsText: OperationCondition {}", "struct Reachability {}"]),
        PatternExample(
            "advanced-exclusion",
            has: [base + "struct MutuallyExclusive: OperationCondition {}", "class ExclusivityController {}"],
            hasNot: ["struct Exclusive {}", base + "struct IsText: OperationCondition {}"]),
        PatternExample(
            "advanced-group", has: ["class Group: Operation { let queue = OperationQueue() }"],
            hasNot: ["class Group { let queue = OperationQueue() }", "class A: Operation { let queue = Queue() }"]),
        PatternExample(
            "advanced-retry",
            has: ["class RetryOperation: Operation {}", "class Load: Operation { var attempts = 3 }"],
            hasNot: ["class Load: Operation { var count = 3 }", "class Load { var attempts = 3 }"]),
        PatternExample(
            "advanced-timeout", has: [base + "struct TimeoutObserver: OperationObserver {}"],
            hasNot: [base + "struct BlockObserver: OperationObserver {}", "struct Timeout {}"]),
        PatternExample(
            "advanced-observer", has: [base + "struct BlockObserver: OperationObserver {}"],
            hasNot: [base + "struct TimeoutObserver: OperationObserver {}", "class A: Observer {}"]),
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
