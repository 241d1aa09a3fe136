@testable import TaskOperationsDiagnosis

/// The parts of a trace that is made for a test.
struct TraceOperation {
    let name: String
    var queue = 0
    var lane = 0
    var times: ClosedRange<Double>
    var added = 0.0
    var ready = 0.0
    var dependencies: [String] = []
    var awaited: [String] = []
}

extension Trace {
    /// A trace of operations of different names, which succeeded.
    init(_ operations: [TraceOperation], queues: [Queue] = [Queue(name: "queue", width: 2, laneCount: 3)]) {
        self.init()
        self.queues = queues
        let sorted = operations.sorted { $0.times.lowerBound < $1.times.lowerBound }
        let places = Dictionary(uniqueKeysWithValues: zip(sorted.map(\.name), sorted.indices))
        self.operations = sorted.enumerated().map { place, operation in
            let (start, end) = (operation.times.lowerBound, operation.times.upperBound)
            return Operation(
                name: operation.name, queue: operation.queue, number: place + 1, added: operation.added,
                ready: operation.ready, slices: [Slice(start: start, end: end, lane: operation.lane)],
                outcome: .succeeded, dependencies: operation.dependencies.map { places[$0]! },
                awaited: operation.awaited.map { places[$0]! })
        }
        beginning = operations.map(\.added).min() ?? 0
        duration = (operations.map(\.times.upperBound).max() ?? 0) - beginning
    }
}
