import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Concurrent maps within calls of concurrent maps", .endsInTime)
struct NestedMapTests {
    /// A map of some elements, whose calls are measured.
    private static func map(
        _ count: Int, width: Int, _ meter: ConcurrencyMeter,
        _ call: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) async throws {
        let values = try await (0..<count).concurrentMap(maxConcurrentOperationCount: width) { number in
            try await meter.measure {
                await Task.yield()
                try await call(number)
                await Task.yield()
            }
            return number
        }
        #expect(values == Array(0..<count))
    }

    /// Maps within maps. Only calls without a map are measured.
    private static func nest(_ widths: ArraySlice<Int>, _ meter: ConcurrencyMeter) async throws {
        guard let width = widths.first else { return }
        if widths.count == 1 { return try await map(4, width: width, meter) }
        try await (0..<4).concurrentForEach(maxConcurrentOperationCount: width) { _ in
            try await nest(widths.dropFirst(), meter)
        }
    }

    @Test(
        "All calls together have the largest of the widths", .schedules(100),
        arguments: [[4, 4], [1, 1], [2, 6], [6, 2], [3, 3, 3], [1, 1, 1], [2, 3, 4]])
    func width(_ widths: [Int]) async throws {
        let meter = ConcurrencyMeter()
        try await Self.nest(widths[...], meter)
        #expect(meter.most <= widths.max()!)
        #expect(meter.total == (widths.count == 2 ? 16 : 64))
    }

    @Test(
        "An inner map uses the places that the outer one does not need, up to its own width", .schedules(50),
        arguments: [1, 4])
    func freePlaces(outerWidth: Int) async throws {
        let gate = Gate()
        try await (0..<1).concurrentForEach(maxConcurrentOperationCount: outerWidth) { _ in
            let opener = Task {
                await gate.waitForArrivals(4)
                await untilOthersWait()
                gate.open()
                return gate.arrivals
            }
            try await (0..<9).concurrentForEach(maxConcurrentOperationCount: 4) { _ in await gate.pass() }
            #expect(await opener.value == 4)
        }
    }

    @Test("The places of a map are free after its failure, and after its cancellation", .schedules(100))
    func failure() async throws {
        try await (0..<2).concurrentForEach(maxConcurrentOperationCount: 4) { number in
            if number == 1 { return }
            let first = ConcurrencyMeter()
            await #expect(throws: WorkFailed()) {
                try await Self.map(9, width: 4, first) { if $0 == 2 { throw WorkFailed() } }
            }
            await #expect(throws: (any Error).self) {
                try await withTimeout(.zero) { try await Self.map(9, width: 4, first) { _ in } }
            }
            #expect(first.most <= 4)
            let gate = Gate()
            let opener = Task {
                await gate.waitForArrivals(4)
                gate.open()
            }
            try await (0..<4).concurrentForEach(maxConcurrentOperationCount: 4) { _ in await gate.pass() }
            await opener.value
        }
    }

    @Test("A map in an unstructured task has its own width", .schedules(50))
    func unstructured() async throws {
        let gate = Gate()
        try await (0..<2).concurrentForEach(maxConcurrentOperationCount: 2) { _ in
            let task = Task {
                try await (0..<2).concurrentForEach(maxConcurrentOperationCount: 2) { _ in await gate.pass() }
            }
            await gate.waitForArrivals(4)
            gate.open()
            try await task.value
        }
        #expect(gate.arrivals == 4)
    }

    @Test("Two maps within one call make progress, whatever the width", .schedules(50))
    func twoMaps() async throws {
        let meter = ConcurrencyMeter()
        try await (0..<2).concurrentForEach(maxConcurrentOperationCount: 1) { _ in
            async let one: Void = Self.map(3, width: 1, meter)
            try await Self.map(3, width: 1, meter)
            try await one
        }
        #expect(meter.most <= 2)
        #expect(meter.total == 12)
    }

    @Test("Maps within maps end wherever a task is cancelled", .schedules(300, faults: .cancellation))
    func cancellation() async throws {
        let meter = ConcurrencyMeter()
        let tasks = (0..<2).map { _ in
            Task { try await Self.nest([2, 2, 2], meter) }
        }
        for task in tasks { _ = await task.result }
        #expect(meter.most <= 4)
    }
}
