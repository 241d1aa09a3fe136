package import TaskOperationsExtras

/// A server that executes a fixed number of requests at once, and its only client, which adapts its capacity.
///
/// Requests that exceed the server's capacity wait in the server, in the order of their arrival. Requests that exceed
/// the client's capacity wait in the client.
package struct ServerModel {
    /// A point of a simulation, at the end of a window.
    package struct Point {
        package let time: Double
        /// The number of requests that the server executes at once.
        package let serverCapacity: Int
        /// The number of requests that the client sends at once.
        package let clientCapacity: Int
        /// Whether the window measured the latency without load.
        package let isProbing: Bool
        /// The median time from sending a request to its end.
        package let latency: Double
    }

    private struct Request {
        let end: Double
        let start: CapacityMeter.Start?
        let latency: Double
        let isRefused: Bool
    }

    /// The mean time that the server needs for a request, in seconds.
    package var serviceTime: Double
    /// The standard deviation of the time for a request, as a part of the mean.
    package var spread: Double
    /// The number of requests that may wait in the server. It refuses others at once.
    package var serverQueue = Int.max
    /// The number of requests per second; infinite if there always is another request.
    package var arrivalRate = Double.infinity
    /// The client's capacity; nil if it sends all requests at once.
    package private(set) var meter: CapacityMeter?
    package private(set) var points: [Point] = []
    package private(set) var now = 0.0
    /// The number of requests that have waited in the client and not been sent.
    package private(set) var waiting = 0
    package private(set) var completed = 0

    /// The times at which the server's places are free.
    private var places: [Double]
    /// A heap of the requests that have been sent, by their ends.
    private var sent: [Request] = []
    private var nextArrival = 0.0
    private var latencies: [Double] = []
    private var generator: SeededChoices

    package init(
        capacity: Int, serviceTime: Double = 0.01, spread: Double = 0.3, meter: CapacityMeter?, seed: UInt64 = 1
    ) {
        self.serviceTime = serviceTime
        self.spread = spread
        self.meter = meter
        places = [Double](repeating: 0, count: capacity)
        generator = SeededChoices(seed: seed)
    }

    /// The number of requests that the server executes at once.
    package var capacity: Int {
        get { places.count }
        set {
            places = Array(places.prefix(newValue))
            while places.count < newValue { places.append(now) }
        }
    }

    /// Simulates until the given number of windows has ended.
    package mutating func run(windows count: Int) {
        let end = points.count + count
        while points.count < end { step() }
    }

    /// Simulates until a time, in seconds.
    package mutating func run(until time: Double) {
        while now < time { step() }
    }

    private mutating func step() {
        send()
        let firstEnd = sent.first?.end ?? .infinity
        if arrivalRate.isFinite, nextArrival <= firstEnd {
            now = nextArrival
            waiting += 1
            nextArrival = now + exponential() / arrivalRate
        } else {
            end(removeFirst())
        }
    }

    private mutating func send() {
        if arrivalRate.isInfinite { waiting = max(waiting, (meter?.control.capacity ?? 0) - sent.count) }
        while waiting > 0, sent.count < meter?.control.capacity ?? .max {
            waiting -= 1
            insert(request())
        }
    }

    private mutating func request() -> Request {
        let start = meter?.start(at: now)
        // The requests that have no place yet.
        if serverQueue != .max, sent.count >= capacity + serverQueue {
            return Request(end: now + 0.1 * serviceTime, start: start, latency: 0, isRefused: true)
        }
        var place = 0
        for other in places.indices where places[other] < places[place] { place = other }
        places[place] = max(now, places[place]) + serviceTime * noise()
        return Request(end: places[place], start: start, latency: places[place] - now, isRefused: false)
    }

    private mutating func end(_ request: Request) {
        now = request.end
        if !request.isRefused {
            completed += 1
            latencies.append(request.latency)
        }
        guard let start = request.start, let before = meter else { return }
        meter!.end(start, at: now, request.isRefused ? .refused : .completed)
        if meter!.window == before.window { return }
        latencies.sort()
        points.append(
            Point(
                time: now, serverCapacity: capacity, clientCapacity: before.control.capacity,
                isProbing: before.control.isProbing,
                latency: latencies.isEmpty ? 0 : latencies[latencies.count / 2]))
        latencies.removeAll(keepingCapacity: true)
    }
}

// MARK: - Numbers

extension ServerModel {
    /// A factor with mean 1 and the standard deviation `spread`: the sum of uniform numbers, without negative values.
    private mutating func noise() -> Double {
        let sum = (0..<3).reduce(0) { sum, _ in sum + unit() } - 1.5
        return max(0.05, 1 + 2 * spread * sum)
    }

    /// A number with mean 1, for the times between arrivals.
    private mutating func exponential() -> Double {
        // A geometric number, and a uniform fraction. The distribution is near the exponential one, and needs no
        // logarithm, which differs between systems.
        var count = 0.0
        while unit() < 0.5, count < 40 { count += 1 }
        return (count + unit()) / 1.5
    }

    private mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }
}

// MARK: - The heap

extension ServerModel {
    private mutating func insert(_ request: Request) {
        sent.append(request)
        var child = sent.count - 1
        while child > 0, sent[(child - 1) / 2].end > sent[child].end {
            sent.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func removeFirst() -> Request {
        sent.swapAt(0, sent.count - 1)
        let first = sent.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < sent.count }
            guard let child = children.min(by: { sent[$0].end < sent[$1].end }), sent[child].end < sent[parent].end
            else { return first }
            sent.swapAt(parent, child)
            parent = child
        }
    }
}
