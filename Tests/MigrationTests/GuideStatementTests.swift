import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

/// Compares statements of the guide with the behaviour, the sources and the figures that they describe.
@Suite("Statements of the guide", .inTurns, .endsInTime)
struct GuideStatementTests {
    @Test("The blocks of one operation run one after the other in Foundation on Linux")
    func blocksOfOneOperation() {
        #if !canImport(ObjectiveC)
            #expect(Self.blocksOnTheirStartersThread(of: 4) == 4)
        #endif
    }

    /// Returns the number of blocks that run on the thread that starts their operation. These blocks run one after
    /// another.
    private static func blocksOnTheirStartersThread(of count: Int) -> Int {
        let (starter, blocks, legacy) = (ObjectIdentifier(Thread.current), SharedCount(), BlockOperation())
        for _ in 0..<count {
            legacy.addExecutionBlock { if ObjectIdentifier(Thread.current) == starter { blocks.add(1) } }
        }
        legacy.start()
        return blocks.total
    }

    @Test("Starting an operation of Foundation again after its end does nothing; ours throws")
    func startedTwice() async throws {
        let runs = SharedCount()
        let legacy = BlockOperation { runs.add(1) }
        for _ in 1...2 { legacy.start() }
        #expect(runs.total == 1)

        let ported = TaskOperation {}
        try ported.start()
        try await ported.value
        #expect(throws: TaskOperationError.self) { try ported.start() }
    }

    @Test("A barrier on a global queue runs beside other blocks")
    func barrierOnGlobalQueue() async {
        let (hasBegun, isOver) = (DispatchSemaphore(value: 0), DispatchGroup())
        isOver.enter()
        DispatchQueue.global().async {
            #expect(hasBegun.wait(timeout: .now() + 1200) == .success)
            isOver.leave()
        }
        DispatchQueue.global().async(flags: .barrier) { hasBegun.signal() }
        await withCheckedContinuation { continuation in
            isOver.notify(queue: .global()) { continuation.resume() }
        }
    }

    @Test("The guide names each construct as its users know it", arguments: NamedCall.constructs)
    func constructs(call: NamedCall) throws {
        let page = try MigrationDocument("\(MigrationDocument.recipeFolder)/\(call.page).md")
        #expect(page.text.contains(call.name))
        let index = try MigrationDocument().text + MigrationDocument(MigrationDocument.article("Members")).text
        #expect(index.contains("\(call.page).md)") && index.contains(call.name))
    }

    @Test(
        "The guide names the sanitizers, and NSDistributedLock",
        arguments: ["--sanitize=thread", "--sanitize=address", "Main Thread Checker", "NSDistributedLock"])
    func namesWithoutPage(name: String) throws {
        #expect(try MigrationDocument().text.contains(name))
    }

    @Test("A completion block that adds the next batch, and a loop of scopes, both run all batches")
    func chainedBatches() async throws {
        let temporary = try TemporaryFolder()
        for number in 0..<70 { try temporary.write("line\n", to: "file \(number)") }
        let files = try InputFolder(listing: temporary.path).files[...]
        let (legacy, ported) = (SharedCount(), SharedCount())
        let queue = OperationQueue()
        await withCheckedContinuation { continuation in
            Legacy.addBatches(of: files, to: queue, legacy) { continuation.resume() }
        }
        try await Ported.addBatches(of: files, ported)
        #expect(legacy.total == 70 && ported.total == 70)
    }

    @Test("An operation whose isCancelled means finished hides its cancellation, and a body does not")
    func overriddenCancellation() async throws {
        final class Finished: Operation, @unchecked Sendable {
            override var isCancelled: Bool { isFinished }
        }
        let legacy = Finished()
        legacy.cancel()
        #expect(!legacy.isCancelled)

        let ported = TaskOperation {
            AnyTaskOperation.current?.cancel()
            return Task.isCancelled
        }
        try ported.start()
        #expect(try await ported.value)
        #expect(ported.isCancelled)
    }

    @Test("A queue of Foundation has the default quality of service on Linux, an operation of ours medium priority")
    func defaultPriorities() async throws {
        #if !canImport(ObjectiveC)
            #expect(OperationQueue().qualityOfService == .default)
        #endif
        #expect(TaskOperation {}.priority == .medium)
    }

    @Test("A completion handler runs at the priority of its operation")
    func priorityOfHandler() async throws {
        let priorities = AsyncStream.makeStream(of: TaskPriority.self)
        let queue = TaskOperationQueue()
        for priority in [TaskPriority.low, .high] {
            let operation = TaskOperation(.priority(priority)) {}
            operation.addCompletionHandler { _ in priorities.continuation.yield(Task.currentPriority) }
            try queue.addOperation(operation)
            for await handler in priorities.stream {
                #expect(handler == priority)
                break
            }
        }
    }

    @Test("A timer that is due fires in its mode of the run loop only; a sleep needs no mode")
    func modes() async throws {
        let fired = SharedCount()
        let firedInDefaultMode = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let mode = RunLoop.Mode("scrolling")
                let due = Date(timeIntervalSinceNow: -1)
                RunLoop.current.add(Timer(fire: due, interval: 0, repeats: false) { _ in fired.add(1) }, forMode: mode)
                _ = RunLoop.current.run(mode: .default, before: Date())
                let inDefaultMode = fired.total
                while fired.total == 0 { _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 1)) }
                continuation.resume(returning: inDefaultMode)
            }
        }
        #expect(firedInDefaultMode == 0)
        try await Task.sleep(for: .milliseconds(1))
    }

    @Test("The row of the guide, the page and the port name the same call", arguments: NamedCall.all)
    func namedCalls(call: NamedCall) throws {
        let guide = try MigrationDocument().text.split(separator: "\n")
        let row = try #require(guide.first { $0.contains("Recipes/\(call.page).md") })
        #expect(row.contains(call.name))
        let page = try MigrationDocument("\(MigrationDocument.recipeFolder)/\(call.page).md")
        #expect(page.text.components(separatedBy: "**What changes.**")[1].contains(call.name))
        #expect(page.code.contains(call.name))
    }

    @Test("The table of members names the members that the recipes use")
    func members() throws {
        let members = try MigrationDocument(MigrationDocument.article("Members")).text.split(separator: "\n")
        #expect(try #require(members.first { $0.hasPrefix("| `setTarget") }).contains("`.limit(_:)`"))
        #expect(try #require(members.first { $0.hasPrefix("| `progress`") }).contains("`progressUpdates(expecting:)`"))
        #expect(try #require(members.first { $0.contains("flags: .barrier") }).contains("no effect"))
    }

    @Test("README.md has the first row of the article on cost, with the same figures")
    func costs() throws {
        func rows(_ path: String) throws -> Set<String> {
            let lines = try MigrationDocument(path).text.split(separator: "\n").map(String.init)
            return Set(lines.filter { $0.wholeMatch(of: /\| .*\(\d+\.\d+\).*\|/) != nil })
        }
        let (readme, article) = (try rows("README.md"), try rows(MigrationDocument.article("Cost")))
        #expect(readme.count == 1 && readme.allSatisfy { $0.hasPrefix("| 100,000 independent, width 2 |") })
        #expect(article.count > 3)
        #expect(readme.isSubset(of: article))
    }

    @Test("The figures of the guide are those of the article on cost")
    func figures() throws {
        let table = try MigrationDocument(MigrationDocument.article("Cost")).text.split(separator: "\n")
        let empty = try #require(table.first { $0.hasPrefix("| 100,000 independent, width 2") })
        let ratio = try #require(empty.firstMatch(of: /\((0\.\d+)\)/)).1
        let page = try MigrationDocument("\(MigrationDocument.recipeFolder)/Operations/ChunkedOperations.md")
        #expect(page.text.contains("(\(ratio) in [the table]"))

        let waiting = try #require(table.first { $0.hasPrefix("| bytes for an operation that waits") })
        let bytes = waiting.matches(of: /\d[\d,]*/).compactMap { Int($0.0.replacing(",", with: "")) }
        let (ours, task) = (try #require(bytes.first), try #require(bytes.first { $0 > 1000 }))
        let guide = try MigrationDocument().text
        #expect(guide.contains("100,000 suspended tasks take some \(task / 10) MB (measured with detached ones)"))
        #expect(guide.contains("as many waiting operations \((ours + 5) / 10) MB"))
        let comparison = try MigrationDocument(MigrationDocument.article("ComingFrom")).text
        #expect(comparison.contains("100,000 suspended tasks take about \(task / 10) MB"))
        #expect(comparison.contains("100,000 waiting operations \((ours + 5) / 10) MB"))
        let batches = try MigrationDocument("\(MigrationDocument.recipeFolder)/Operations/BatchedOperations.md")
        #expect(batches.text.contains("A waiting operation takes \(ours) bytes"))
    }

    @Test("All pages and the reference state the same cost of an observer, which follows from its figures")
    func costOfObserving() throws {
        let reference = "Sources/TaskOperations/API/TaskOperationQueue.swift"
        var ratios: [String: String] = [:]
        for path in try MigrationDocument.paths + [reference] {
            for found in try MigrationDocument(path).text.matches(of: /(\d+\.\d+) times the instructions/) {
                let former = ratios.updateValue(String(found.1), forKey: path)
                #expect(former == nil, "\(path)")
            }
        }
        let cost = try MigrationDocument(MigrationDocument.article("Cost"))
        let figures = try #require(cost.text.firstMatch(of: /four events \(([\d,]+) and ([\d,]+)\)/))
        let (plain, observed) = (
            try #require(Double(figures.1.replacing(",", with: ""))),
            try #require(Double(figures.2.replacing(",", with: "")))
        )
        #expect(ratios.count == 3 && ratios.keys.contains(cost.path) && ratios.keys.contains(reference))
        #expect(Set(ratios.values) == [String(format: "%.1f", observed / plain)])
    }

    @Test("The downloader has two queues and three locks left, as its page says")
    func locksOfTheDownloader() throws {
        let folder = MigrationDocument.package.appending(path: "Sources/MigrationExamples/Ported/Systems")
        let files = ["ImageDownloader.swift", "ImageDownloaderSession.swift"]
        let source = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
        func count(_ endings: [String]) -> Int {
            source.split(separator: "\n").count { line in
                line.contains("private let ") && endings.contains { line.contains($0) }
            }
        }
        #expect(count([": TaskOperationQueue", " = TaskOperationQueue("]) == 2)
        #expect(count([" = Mutex<", " = NSLock("]) == 3)
        let page = try MigrationDocument("\(MigrationDocument.recipeFolder)/Systems/ImageDownloader.md")
        #expect(page.text.contains("Two queues and three locks are left"))
    }
}

/// A call that is named on a page.
struct NamedCall: CustomTestStringConvertible {
    let page: String
    let name: String

    var testDescription: String { "\(page): \(name)" }

    static let constructs = [
        NamedCall(page: "Operations/NSCoding", name: "NSCoding"),
        NamedCall(page: "Operations/addDependency", name: "removeDependency"),
        NamedCall(page: "Operations/Operation.main", name: "autoreleasepool"),
        NamedCall(page: "Operations/start", name: "performOperation"),
        NamedCall(page: "Operations/start", name: "isReady"),
        NamedCall(page: "Operations/isCancelled", name: "isCancelled"),
        NamedCall(page: "Operations/qualityOfService", name: "threadPriority"),
        NamedCall(page: "Operations/NSInvocationOperation", name: "NSInvocationOperation"),
        NamedCall(page: "Dispatch/makeUserDataAddSource", name: "makeMachReceiveSource"),
        NamedCall(page: "Dispatch/DispatchBarrier", name: "sync(flags: .barrier)"),
        NamedCall(page: "Dispatch/DispatchBarrier", name: "dispatch_barrier_sync"),
        NamedCall(page: "Dispatch/concurrentPerform", name: "dispatch_apply"),
        NamedCall(page: "Dispatch/asyncAfter", name: "Thread.sleep"),
        NamedCall(page: "Threads/detachNewThread", name: "performSelectorInBackground"),
        NamedCall(page: "Threads/performAfterDelay", name: "inModes:"),
        NamedCall(page: "Threads/Thread.start", name: "stackSize"),
        NamedCall(page: "Threads/Thread.start", name: "threadPriority"),
        NamedCall(page: "Threads/Thread.start", name: "real-time"),
    ]

    static let all = [
        NamedCall(page: "Operations/BatchedOperations", name: "addOperationWaitingForRoom"),
        NamedCall(page: "Dispatch/setTarget", name: ".limit("),
        NamedCall(page: "Advanced/CancelWithError", name: "cancel(throwing:"),
    ]
}
