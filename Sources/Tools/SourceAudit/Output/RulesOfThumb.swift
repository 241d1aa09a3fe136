/// A rule for people and coding agents that write or review code with TaskOperations.
///
/// The article Agents has a row for each rule, and `audit rules` prints them. Both get their text from here.
struct RuleOfThumb {
    let rule: String
    /// One line that breaks the rule.
    let wrong: String
    /// One line that takes its place. It compiles: see `.ci/docs`.
    let right: String

    init(_ rule: String, _ wrong: String, _ right: String) {
        self.rule = rule
        self.wrong = wrong
        self.right = right
    }

    /// The rule as a row of the article.
    func row(_ number: Int) -> String { "| \(number) | \(rule) | `\(wrong)` | `\(right)` |" }

    /// The text that `audit rules` prints.
    static var text: String {
        all.enumerated().map { index, rule in
            let number = String(index + 1)
            let margin = String(repeating: " ", count: 2 - number.count)
            return "\(margin)\(number)  \(rule.rule)\n    wrong: \(rule.wrong)\n    right: \(rule.right)\n"
        }.joined()
    }

    static let all = [
        RuleOfThumb(
            "Await each operation, or handle its outcome. Otherwise, its error is lost.",
            "queue.addOperation { try await send(report) }",
            "let receipt = try await queue.run { try await send(report) }"),
        RuleOfThumb(
            "Use `run` where a cancellation of the caller must cancel the operation. With `value`, only the wait ends.",
            "let page = try await queue.addOperation { try await fetch(url) }.value",
            "let page = try await queue.run { try await fetch(url) }"),
        RuleOfThumb(
            "Pass a value with `after:`. After `dependencies:`, the body runs also if the dependency failed.",
            "queue.addOperation(dependencies: [image]) { await show(try await image.value) }",
            "let shown = queue.addOperation(after: image) { await show($0) }"),
        RuleOfThumb(
            "Open a queue that only one function uses as a scope. No operation outlives it.",
            "let pages = TaskOperationQueue()",
            "try await withTaskOperationQueue { pages in _ = pages.addOperation { try await work() } }"),
        RuleOfThumb(
            "Set the width of a queue whose bodies wait for a network. The default is the number of processors.",
            "let requests = TaskOperationQueue()",
            "let requests = TaskOperationQueue(name: \"requests\", maxConcurrentOperationCount: 16)"),
        RuleOfThumb(
            "Limit the resources of a body with an option. A body that waits in `withPermit` has a permit of its queue.",
            "queue.addOperation { try await database.withPermit { try await writeRows() } }",
            "let rows = queue.addOperation(.limit(database)) { try await writeRows() }"),
        RuleOfThumb(
            "Limit hosts and tenants by keys of one semaphore, and not by a queue for each.",
            "let queues = [\"a\": TaskOperationQueue(maxConcurrentOperationCount: 2)]",
            "let hosts = AsyncSemaphore(capacity: 16, perKey: 2); queue.addOperation(.limit(hosts, key: url.host())) { try await work() }"
        ),
        RuleOfThumb(
            "Repeat a body with a retry policy. A loop in the body holds its permit during the pauses.",
            "queue.addOperation { for _ in 1...3 { try? await work(); try await Task.sleep(for: .seconds(1)) } }",
            "let done = queue.addOperation(.retry(.exponential(initial: .seconds(1), jitter: 0.5, attempts: 3))) { try await work() }"
        ),
        RuleOfThumb(
            "Delay a start with an option. A sleep at the start of a body holds a permit.",
            "queue.addOperation { try await Task.sleep(for: .seconds(5)); try await work() }",
            "let later = queue.addOperation(.delay(.seconds(5))) { try await work() }"),
        RuleOfThumb(
            "Limit the time of an operation with an option, and that of any other code with `withTimeout`.",
            "Task { try await Task.sleep(for: .seconds(5)); image.cancel() }",
            "let page = try await withTimeout(.seconds(5)) { try await fetch(url) }"),
        RuleOfThumb(
            "Bound the line of a queue to which a fast producer adds, and wait for room.",
            "for file in files { queue.addOperation { try await index(file) } }",
            "let lines = TaskOperationQueue(.init(maxQueuedOperationCount: 100)); for file in files { try await lines.addOperationWaitingForRoom { try await index(file) } }"
        ),
        RuleOfThumb(
            "Protect state with a `Mutex` or an actor. A queue of width 1 orders work: a body that waits for it lends its permit.",
            "let lock = TaskOperationQueue(maxConcurrentOperationCount: 1)",
            "let count = Mutex(0); count.withLock { $0 += 1 }"),
        RuleOfThumb(
            "Run code that blocks on threads of its own. The cooperative pool has one for each processor.",
            "queue.addOperation { try Data(contentsOf: url) }",
            "let disk = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, executor: BlockingExecutor(name: \"disk\", maxThreadCount: 4)))"
        ),
        RuleOfThumb(
            "Await in the body itself. A `Task` that it creates is not cancelled with it, and can outlive it.",
            "queue.addOperation { Task { try await fetch(url) } }",
            "let data = queue.addOperation { try await fetch(url) }"),
        RuleOfThumb(
            "Check for a cancellation between the steps of a long body, and let `CancellationError` pass.",
            "queue.addOperation { for file in files { try? await index(file) } }",
            "let all = queue.addOperation { for file in files { try Task.checkCancellation(); try await index(file) } }"
        ),
        RuleOfThumb(
            "Let the error of `addDependency` pass. It names the operations of a cycle.",
            "try? image.addDependency(scanned)",
            "let scanned = queue.addOperation { try await work() }; try image.addDependency(scanned)"),
        RuleOfThumb(
            "Share one load among all requests of a key, and keep no table of tasks.",
            "var loads: [URL: Task<Data, any Error>] = [:]",
            "let loads = KeyedOperations<URL, Data>(queue: queue); let data = try await loads.value(for: url) { try await fetch(url) }"
        ),
        RuleOfThumb(
            "Wrap a completion handler with `withCompletionHandler`. It throws if the handler is dropped; a continuation hangs.",
            "let data = await withCheckedContinuation { done in load(url) { data, _ in done.resume(returning: data) } }",
            "let data: Data = try await withCompletionHandler { done in load(url) { data, error in done(data, error) } }"
        ),
        RuleOfThumb(
            "Name queues and operations. Errors, explanations and traces contain the names.",
            "queue.addOperation { try await index(\"a\") }",
            "let indexed = queue.addOperation(name: \"index a\") { try await index(\"a\") }"),
        RuleOfThumb(
            "Run a concurrent test under schedules. A sleep waits too long, or not long enough.",
            "try await Task.sleep(for: .milliseconds(100))  // then it must be over",
            "try Schedules(1_000).run { try await work() }"),
    ]
}
