import Simulation
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("The rule that adapts a capacity", .endsInTime)
struct CapacityRuleTests {
    private static func server(
        capacity: Int, from first: Int? = nil, seed: UInt64 = 1
    ) -> ServerModel {
        var rule = CapacityRule()
        rule.window = .milliseconds(50)
        return ServerModel(
            capacity: capacity, meter: CapacityMeter(rule, within: 1...1000, from: first ?? capacity), seed: seed)
    }

    private static func mean(_ values: some Collection<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

    private static let seeds: Range<UInt64> = 1..<(isDeep ? 20 : 3)

    @Test(
        "The rule follows a capacity that halves or doubles within 30 windows",
        arguments: [(20, 10), (10, 20), (50, 100), (100, 50)], seeds)
    func followsLatencies(change: (before: Int, after: Int), seed: UInt64) {
        var server = Self.server(capacity: change.before, seed: seed)
        server.run(windows: 40)
        server.capacity = change.after
        server.run(windows: 30)
        let settled = server.points.count
        server.run(windows: 20)
        for point in server.points[settled...] where !point.isProbing {
            let error = abs(Double(point.clientCapacity) / Double(change.after) - 1)
            #expect(error <= 0.2, "\(point)")
        }
    }

    @Test(
        "The rule follows the refusals of a server within 30 windows", arguments: [(20, 10), (10, 20)], seeds)
    func followsRefusals(change: (before: Int, after: Int), seed: UInt64) {
        var server = Self.server(capacity: change.before, seed: seed)
        server.serverQueue = 0
        server.run(windows: 20)
        server.capacity = change.after
        server.run(windows: 30)
        let settled = server.points.count
        server.run(windows: 20)
        for point in server.points[settled...] where !point.isProbing {
            #expect(abs(Double(point.clientCapacity) / Double(change.after) - 1) <= 0.2, "\(point)")
        }
    }

    @Test(
        "At three or ten times the load, the median latency is at most 1.5 times the latency without load",
        arguments: [3, 10] as [Double], seeds)
    func latencyUnderLoad(load: Double, seed: UInt64) {
        func medianLatency(load: Double, within bounds: ClosedRange<Int>) -> Double {
            var rule = CapacityRule()
            rule.window = .milliseconds(50)
            var server = ServerModel(
                capacity: 10, meter: CapacityMeter(rule, within: bounds, from: bounds.upperBound), seed: seed)
            server.arrivalRate = load * 10 / server.serviceTime
            server.run(windows: 60)
            let latencies = server.points[30...].map(\.latency).sorted()
            return latencies[latencies.count / 2]
        }
        let unloaded = medianLatency(load: 0.3, within: 1...40)
        #expect(medianLatency(load: load, within: 1...40) <= 1.5 * unloaded)
        #expect(medianLatency(load: load, within: 40...40) > 3 * unloaded, "A fixed capacity of 40")
    }

    @Test("The capacity does not drift under constant overload", arguments: [.infinity, 3000] as [Double])
    func drift(arrivalRate: Double) {
        var server = Self.server(capacity: 10)
        server.arrivalRate = arrivalRate
        let count = isDeep ? 10_000 : 400
        server.run(windows: count)
        for part in stride(from: 100, to: count, by: 100) {
            let capacity = Self.mean(server.points[part..<part + 100].map { Double($0.clientCapacity) })
            #expect(abs(capacity - 11) < 1, "windows from \(part)")
        }
    }

    @Test("Under low load, the capacity does not rise")
    func lowLoad() {
        var server = Self.server(capacity: 20, from: 15)
        server.arrivalRate = 200
        server.run(windows: 100)
        #expect(server.points.allSatisfy { $0.clientCapacity <= 15 })
    }

    @Test("A server that becomes slower, and not smaller, regains its capacity")
    func slowerServer() {
        var server = Self.server(capacity: 20)
        server.run(windows: 40)
        server.serviceTime *= 2
        server.run(windows: 60)
        #expect(server.points.last!.clientCapacity >= 16)
        server.serviceTime /= 4
        server.run(windows: 60)
        #expect((16...24).contains(server.points.last!.clientCapacity))
    }

    @Test("A capacity that begins far from the true one reaches it", arguments: [2, 1000])
    func firstCapacity(first: Int) {
        var server = Self.server(capacity: 20, from: first)
        server.run(windows: 80)
        #expect((16...24).contains(server.points.last!.clientCapacity))
    }

    @Test("Requests that are sent in batches do not hide the latency")
    func batches() {
        var server = Self.server(capacity: 10)
        server.spread = 0
        server.run(windows: 100)
        #expect(server.points[50...].allSatisfy { $0.isProbing || (8...12).contains($0.clientCapacity) })
    }
}

@Suite("The rule that adapts a capacity: every sequence of windows", .endsInTime)
struct CapacityControlTests {
    private static let windows: [CapacityWindow] =
        [nil, 1e-9, 1, 1.2, 2, 1e300].flatMap { (latency: Double?) in
            [1, .max].map { CapacityWindow(latency: latency, peak: $0) }
        } + [CapacityWindow(latency: 1, refused: 0.5, peak: 1)]

    private static let rules: [CapacityRule] = {
        var fast = CapacityRule()
        (fast.headroom, fast.smoothing, fast.probeInterval) = (0.5, 1, 10)
        return [CapacityRule(), fast]
    }()

    @Test(
        "The capacity stays within its bounds, and only rises if it was used, or after a measurement",
        arguments: rules, [1...1, 1...3, 2...100, 1...Int.max])
    func bounds(rule: CapacityRule, bounds: ClosedRange<Int>) {
        for first in [bounds.lowerBound, min(bounds.upperBound, 50), bounds.upperBound] {
            explore(CapacityControl(rule, within: bounds, from: first), depth: isDeep ? 4 : 3)
        }
    }

    private func explore(_ control: CapacityControl, depth: Int) {
        if depth == 0 { return }
        for window in Self.windows {
            var next = control
            next.advance(window)
            #expect(control.bounds.contains(next.capacity))
            if let baseline = next.baseline { #expect(baseline.isFinite && baseline > 0) }
            let mayRise = window.peak >= control.capacity && window.refused == 0 && window.latency != nil
            if next.capacity > control.capacity, !control.isProbing { #expect(mayRise, "\(control) \(window)") }
            if window.refused > 0 { #expect(next.capacity <= control.capacity && !next.isProbing) }
            explore(next, depth: depth - 1)
        }
    }

    @Test("The latency of a window in which a queue forms does not become the latency without load")
    func formingQueue() throws {
        var control = CapacityControl(CapacityRule(), within: 1...40, from: 40)
        // The capacity of the other system is 10. Its queue forms during the first window.
        control.advance(CapacityWindow(latency: 2.5, peak: 40))
        var count = 0
        while control.isProbing, count < 10 {
            control.advance(CapacityWindow(latency: max(1, Double(control.capacity) / 10), peak: control.capacity))
            count += 1
        }
        #expect(try #require(control.baseline) < 1.1)
        #expect((9...12).contains(control.capacity))
    }

    @Test("A measurement ends after at most a logarithmic number of windows")
    func probes() {
        var control = CapacityControl(CapacityRule(), within: 1...Int.max, from: .max)
        var latency = 1e300
        var count = 0
        repeat {
            control.advance(CapacityWindow(latency: latency, peak: .max))
            latency /= 2
            count += 1
        } while control.isProbing
        #expect(count < 130)
        #expect(control.capacity >= 1)
    }

    @Test("Times and parameters at the ends of their ranges do no harm")
    func ends() {
        let numbers: [Double] = [.nan, .infinity, -.infinity, -1, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        for number in numbers {
            var rule = CapacityRule()
            (rule.headroom, rule.smoothing, rule.probeInterval) = (number, number, .min)
            rule.decrease = number
            rule.toleratedRefusals = number
            for (window, count) in [(Duration.zero, Int.min), (.seconds(-1), 1), (.seconds(Int64.max), .max)] {
                (rule.window, rule.sampleCount) = (window, count)
                var meter = CapacityMeter(rule, within: 1...10, from: .min)
                for (start, end) in numbers.flatMap({ start in numbers.map { (start, $0) } }) {
                    for outcome in [CapacityMeter.Outcome.completed, .refused, .ignored] {
                        let begun = meter.start(at: start)
                        meter.end(begun, at: end, outcome)
                        #expect((1...10).contains(meter.control.capacity))
                        #expect(meter.control.baseline.map { $0.isFinite && $0 > 0 } ?? true)
                    }
                }
                #expect(meter.executing == 0)
            }
        }
    }

    @Test("Latencies of operations that started in an earlier window do not count")
    func earlierWindows() {
        var rule = CapacityRule()
        (rule.window, rule.sampleCount) = (.zero, 1)
        var meter = CapacityMeter(rule, within: 1...10, from: 2)
        let slow = meter.start(at: 0)
        meter.end(meter.start(at: 0), at: 0.5, .completed)
        #expect(meter.window == 1)
        meter.end(slow, at: 100, .completed)
        #expect(meter.window == 1 && meter.latencies.isEmpty)
    }

    @Test("One extreme latency has little influence, and many latencies take bounded memory")
    func robustMean() throws {
        var latencies = [Double](repeating: 1, count: 50) + [1e300]
        let mean = try #require(CapacityMeter.mean(&latencies))
        #expect(mean < 1.1)
        var rule = CapacityRule()
        rule.window = .seconds(10)
        var meter = CapacityMeter(rule, within: 1...10, from: 5)
        for _ in 0..<10_000 { meter.end(meter.start(at: 0), at: 1, .completed) }
        #expect((128...256).contains(meter.latencies.count))
        #expect(meter.window == 0)
        meter.end(meter.start(at: 0), at: 10, .completed)
        #expect(meter.window == 1 && meter.latencies.isEmpty)
    }
}
