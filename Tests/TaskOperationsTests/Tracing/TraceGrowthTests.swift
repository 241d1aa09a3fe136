import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

/// Checks that the costs of traces are linear, independently of the machine's speed.
@Suite("Growth: traces take linear time", .computing, .timeLimit(.minutes(120)))
struct TraceGrowthTests {
    private static let large = isDeep ? 20_000 : 4000
    private static let small = large / 10
    private static let limit = 4.0

    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    // MARK: Statistics

    @Test("an event costs about the same when there are 40 times as many groups")
    func keyGroups() async throws {
        let (journal, hosts) = (EventJournal(), AsyncSemaphore(capacity: 1))
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addObserver(journal)
        // Each operation ends before the next one is added, so each key replaces another one.
        for key in 0..<6000 { queue.addOperation(.limit(hosts, key: key)) {}.cancel() }
        let events = journal.events
        let ratio = bestRatio(within: 2.5) { isLarge in
            let statistics = OperationStatistics(keysOf: hosts, maxKeyCount: isLarge ? 2000 : 50)
            for event in events.prefix(events.count / 2) { statistics.operationChanged(event) }
            return processorTime {
                for event in events.dropFirst(events.count / 2) { statistics.operationChanged(event) }
            }
        }
        #expect(ratio < 2.5, "a search through all groups makes it more than 3")
    }

    // MARK: Reading

    /// A trace that is analyzed.
    enum Shape: String, CaseIterable {
        case oneQueue = "one queue"
        case ownQueues = "a queue for each operation"
        /// Each operation depends on the previous operation, and then waits for a permit.
        case chain = "a chain over as many queues"
    }

    private func trace(_ shape: Shape, _ count: Int) throws -> Trace {
        var lines: [String] = []
        for number in 0..<count {
            let process = shape == .oneQueue ? 1 : 2 * number + 1
            if shape != .oneQueue || number == 0 {
                lines += [
                    #"{"ph":"M","pid":\#(process),"name":"process_name","args":{"name":"\#(process)","width":1}}"#,
                    #"{"ph":"M","pid":\#(process),"tid":\#(process + 1),"name":"thread_name","args":{"name":"1"}}"#,
                ]
            }
            let (ready, start) = shape == .chain ? (number * 100, number * 100 + 50) : (0, number * 100)
            lines.append(
                #"{"ph":"X","pid":\#(process),"tid":\#(process + 1),"ts":\#(start),"dur":50,"#
                    + #""args":{"op":\#(number),"added":0,"ready":\#(ready)}}"#)
            if shape == .chain, number > 0 {
                lines.append(
                    #"{"ph":"f","cat":"dependency","pid":\#(process),"tid":\#(process + 1),"ts":\#(start),"id":1,"#
                        + #""args":{"op":\#(number),"after":[\#(process - 2),\#(number - 1)]}}"#)
            }
        }
        let url = folder["\(shape) \(count).json"]
        try ("[\n" + lines.joined(separator: ",\n") + "\n]\n").write(to: url, atomically: true, encoding: .utf8)
        return try Trace(contentsOf: url)
    }

    private func ratio(_ shape: Shape, _ analyze: (Trace) -> Void) throws -> Double {
        let (small, large) = (try trace(shape, Self.small), try trace(shape, Self.large))
        return bestRatio(within: Self.limit) { isLarge in
            // The total work is the same for both sizes.
            processorTime { for _ in 0..<(isLarge ? 1 : 10) { analyze(isLarge ? large : small) } }
        }
    }

    @Test("A chart of ten times as many operations takes about ten times as long", arguments: Shape.allCases)
    func charts(shape: Shape) throws {
        let ratio = try ratio(shape) { #expect($0.timelineSVG().hasSuffix("</svg>\n")) }
        #expect(ratio < Self.limit, "quadratic work would make it 10")
    }

    @Test("An explanation of ten times as many operations takes about ten times as long", arguments: Shape.allCases)
    func explanations(shape: Shape) throws {
        let ratio = try ratio(shape) { #expect(!$0.explanation.isEmpty) }
        #expect(ratio < Self.limit, "quadratic work would make it 10")
    }

    @Test("A critical path over ten times as many queues takes about ten times as long")
    func criticalPaths() throws {
        let ratio = try ratio(.chain) { #expect($0.criticalPath.count == $0.operations.count) }
        #expect(ratio < Self.limit, "a search through all ends would make it 10")
    }

    // MARK: Recording

    @Test("A rotating trace of ten times as many queues takes about ten times as long")
    func queues() throws {
        let url = folder["trace.json"]
        let ratio = try bestRatio(within: Self.limit, attempts: 5) { isLarge in
            let count = isLarge ? Self.large : Self.small
            return try processorTimeOnOneThread { executor in
                for _ in 0..<(Self.large / count) {
                    let recorder = try TraceRecorder(writingTo: url, maximumFileSize: 1_000_000)
                    for number in 0..<count {
                        let queue = TaskOperationQueue(.init(name: "queue \(number)", executor: executor))
                        queue.addObserver(recorder)
                        try await queue.addOperation {}.value
                    }
                    try recorder.finish()
                }
            }
        }
        #expect(ratio < Self.limit, "the names of all queues in each file would make it 10")
    }

    @Test("The starts of many dependents are recorded in linear time before the end of their dependency")
    func lateEnd() throws {
        let url = folder["trace.json"]
        let events = try [Self.small, 2 * Self.large].map { count in
            try onOneThread { executor in
                let (first, others) = (EventJournal(), EventJournal())
                let queue = TaskOperationQueue(.init(name: "first", executor: executor))
                let other = TaskOperationQueue(.init(name: "others", executor: executor))
                queue.addObserver(first)
                other.addObserver(others)
                let dependency = queue.addOperation {}
                for _ in 0..<count { other.addOperation(dependencies: [dependency]) {} }
                for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
                return others.events + first.events
            }
        }
        let ratio = try bestRatio(within: Self.limit) { isLarge in
            try processorTime {
                for _ in 0..<(isLarge ? 1 : 20) {
                    let recorder = try TraceRecorder(writingTo: url)
                    for event in events[isLarge ? 1 : 0] { recorder.operationChanged(event) }
                    try recorder.finish()
                }
            }
        }
        #expect(ratio < Self.limit, "a copy of all dependents for each would make it 20")
    }
}
