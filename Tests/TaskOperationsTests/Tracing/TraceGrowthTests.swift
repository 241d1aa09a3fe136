import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDiagnosis

/// Checks that the costs of traces are linear, independently of the machine's speed.
@Suite("Growth: traces take linear time", .computing, .endsInTime)
struct TraceGrowthTests {
    private static let large = isDeep ? 20_000 : 4000
    private static let small = large / 10
    private static let limit = 4.0

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

    private func trace(_ shape: Shape, _ count: Int) -> Trace {
        let operations = (0..<count).map { number in
            let start = Double(number) * 1e-4
            return TraceOperation(
                name: "\(number)", queue: shape == .oneQueue ? 0 : number,
                times: (shape == .chain ? start + 5e-5 : start)...(start + 1e-4), ready: shape == .chain ? start : 0,
                dependencies: shape == .chain && number > 0 ? ["\(number - 1)"] : [])
        }
        let queues = (0..<(shape == .oneQueue ? 1 : count)).map { Trace.Queue(name: "\($0)", width: 1, laneCount: 1) }
        return Trace(operations, queues: queues)
    }

    private func ratio(_ shape: Shape, _ analyze: (Trace) -> Void) -> Double {
        let (small, large) = (trace(shape, Self.small), trace(shape, Self.large))
        return bestRatio(within: Self.limit) { isLarge in
            // The total work is the same for both sizes.
            processorTime { for _ in 0..<(isLarge ? 1 : 10) { analyze(isLarge ? large : small) } }
        }
    }

    @Test("A chart of ten times as many operations takes about ten times as long", arguments: Shape.allCases)
    func charts(shape: Shape) {
        let ratio = ratio(shape) { #expect($0.timelineSVG().hasSuffix("</svg>\n")) }
        #expect(ratio < Self.limit, "quadratic work would make it 10")
    }

    @Test("An explanation of ten times as many operations takes about ten times as long", arguments: Shape.allCases)
    func explanations(shape: Shape) {
        let ratio = ratio(shape) { #expect(!$0.explanation.isEmpty) }
        #expect(ratio < Self.limit, "quadratic work would make it 10")
    }

    @Test("The JSON text of ten times as many operations takes about ten times as long", arguments: Shape.allCases)
    func texts(shape: Shape) {
        let ratio = ratio(shape) { #expect($0.perfettoJSON.hasSuffix("]\n")) }
        #expect(ratio < Self.limit, "a search through all operations for each queue would make it 10")
    }

    @Test("A critical path over ten times as many queues takes about ten times as long")
    func criticalPaths() {
        let ratio = ratio(.chain) { #expect($0.criticalPath.count == $0.operations.count) }
        #expect(ratio < Self.limit, "a search through all ends would make it 10")
    }

    @Test("A longest chain of ten times as many operations takes about ten times as long")
    func longestChains() {
        let ratio = ratio(.chain) { #expect($0.longestChain.count == $0.operations.count) }
        #expect(ratio < Self.limit, "a search through all operations for each one would make it 10")
    }

    // MARK: Recording

    /// The operations that a recorder has recorded.
    enum Load: String, CaseIterable {
        case waiting = "operations that wait in a suspended queue"
        case waitingForOne = "operations that wait for one dependency"
        case executing = "operations that execute at once"
        /// The address of an operation is used again by later ones.
        case successive = "operations that each depend on the one before, one at a time"
        case awaited = "operations that one body awaits"
        case queues = "queues with an operation each"
    }

    /// Returns a recorder of a number of operations, which are still unfinished in some loads.
    private func recorder(_ load: Load, _ count: Int) async throws -> (recorder: FlightRecorder, gate: Gate) {
        let (queue, gate) = (TaskOperationQueue(name: "queue", maxConcurrentOperationCount: .max), Gate())
        let queues = load == .queues ? (0..<count).map { TaskOperationQueue(name: "queue \($0)") } : [queue]
        let recorder = FlightRecorder(of: queues, capacity: 64 << 20)
        switch load {
        case .waiting:
            queue.isSuspended = true
            for number in 0..<count { queue.addOperation(name: "\(number)") {} }
        case .waitingForOne:
            let first = queue.addOperation { await gate.pass() }
            for _ in 0..<count { queue.addOperation(dependencies: [first]) {} }
        case .executing:
            for _ in 0..<count { queue.addOperation { await gate.pass() } }
            await gate.waitForArrivals(count)
        case .successive:
            var last = queue.addOperation {}
            for _ in 0..<count {
                let next = queue.addOperation(dependencies: [last]) {}
                try await next.value
                last = next
            }
        case .awaited:
            try await queue.addOperation {
                for _ in 0..<count { try await queue.addOperation {}.value }
            }.value
        case .queues: for queue in queues { try await queue.addOperation {}.value }
        }
        return (recorder, gate)
    }

    @Test(
        "A recording of ten times as many operations is read and explained in about ten times the time",
        arguments: Load.allCases)
    func reading(load: Load) async throws {
        let (small, large) = (try await recorder(load, Self.small), try await recorder(load, Self.large))
        let ratio = bestRatio(within: Self.limit) { isLarge in
            processorTime {
                for _ in 0..<(isLarge ? 1 : 10) {
                    #expect(!(isLarge ? large : small).recorder.trace().explanation.isEmpty)
                }
            }
        }
        #expect(ratio < Self.limit, "a search through all operations for each would make it 10")
        for (recorder, gate) in [small, large] {
            recorder.stop()
            gate.open()
        }
    }

    @Test("Recording ten times as many queues takes about ten times as long")
    func queues() throws {
        // Also in a deep run: 20,000 queues are larger than the caches, and each costs more for this reason.
        let large = 4000
        let ratio = try bestRatio(within: Self.limit, attempts: 5) { isLarge in
            let count = isLarge ? large : large / 10
            return try processorTimeOnOneThread { executor in
                for _ in 0..<(large / count) {
                    let queues = (0..<count).map { TaskOperationQueue(.init(name: "queue \($0)", executor: executor)) }
                    let recorder = FlightRecorder(of: queues, capacity: FlightRecorder.minimumCapacity)
                    for queue in queues { try await queue.addOperation {}.value }
                    recorder.stop()
                }
            }
        }
        #expect(ratio < Self.limit, "the state of all queues at each change would make it 10")
    }
}
