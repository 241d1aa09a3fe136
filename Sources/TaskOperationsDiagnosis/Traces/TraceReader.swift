import Foundation

struct TraceReader {
    /// A line, with the fields of all kinds of lines.
    private struct Line: Decodable {
        struct Arguments: Decodable {
            var name: String?
            var width: Int?
            var op: Int?
            var added: Double?
            var ready: Double?
            var after: [Int]?
            var end: String?
        }

        var ph: String
        var cat: String?
        var pid: Int
        var tid: Int?
        var ts: Double?
        var dur: Double?
        var name: String?
        var args: Arguments?
    }

    private struct Key: Hashable {
        let process: Int
        let number: Int
    }

    private let path: String
    private(set) var trace = Trace()
    private let decoder = JSONDecoder()
    private var lineNumber = 0
    private var queues: [Int: Int] = [:]
    /// The lanes of the threads of each process.
    private var lanes: [Key: Int] = [:]
    private var indices: [Key: Int] = [:]
    private var arrows: [(from: Key, to: Key, isWait: Bool)] = []

    init(path: String) {
        self.path = path
    }

    mutating func read(_ data: Data) throws(TraceError) {
        var hasBegun = false
        for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lineNumber += 1
            if line.isEmpty { continue }
            if trace.isComplete { throw wrong("there is something after the end") }
            if !hasBegun {
                if line.elementsEqual("[".utf8) { hasBegun = true } else { throw wrong("a trace begins with [") }
            } else if line.elementsEqual("]".utf8) {
                trace.isComplete = true
            } else {
                try read(line: line)
            }
        }
        if !hasBegun { throw wrong("the file is empty") }
        connect()
    }

    private func wrong(_ reason: String) -> TraceError { .line(max(1, lineNumber), path: path, reason: reason) }

    private mutating func read(line: Data) throws(TraceError) {
        let text = line.last == UInt8(ascii: ",") ? line.dropLast() : line
        if text.last != UInt8(ascii: "}") { throw wrong("the line is cut: it does not end with }") }
        let line: Line
        do {
            line = try decoder.decode(Line.self, from: text)
        } catch {
            throw wrong("no event of a trace: \(Self.reason(error))")
        }
        switch line.ph {
        case "M": try readName(line)
        case "X": try readSlice(line)
        case "i": if line.name == "cancelled" { trace.cancellationCount += 1 }
        case "f": try readArrow(line)
        case "b", "e", "s", "C": break
        default: throw wrong("the phase \"\(line.ph)\" is none that a recorder writes")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
        case DecodingError.typeMismatch(let type, let context):
            "\"\(context.codingPath.last?.stringValue ?? "")\" is no \(type)"
        case DecodingError.valueNotFound(_, let context): "\"\(context.codingPath.last?.stringValue ?? "")\" is null"
        default: "it is not JSON"
        }
    }

    private func required<Value>(_ value: Value?, _ key: String) throws(TraceError) -> Value {
        guard let value else { throw wrong("\"\(key)\" is missing") }
        return value
    }

    /// The longest time in microseconds, about 30 years. Sums of times that a trace can contain are far below the
    /// largest integer, and each time is exact to a quarter of a microsecond.
    private static var longestTime: Double { 1e15 }

    /// Returns a time in seconds.
    private func time(_ microseconds: Double?, _ key: String) throws(TraceError) -> Double {
        let value = try required(microseconds, key)
        if value < 0 { throw wrong("\"\(key)\" is negative") }
        // Also false for a value that is no number.
        guard value <= Self.longestTime else { throw wrong("\"\(key)\" is more than 30 years") }
        return value / 1e6
    }

    private mutating func readName(_ line: Line) throws(TraceError) {
        let name = try required(line.args?.name, "name")
        if let width = line.args?.width, width < 0 { throw wrong("\"width\" is negative") }
        if line.name == "process_name" {
            queues[line.pid] = trace.queues.count
            trace.queues.append(Trace.Queue(name: name, width: line.args?.width))
        } else if line.name == "thread_name", let thread = line.tid, let queue = queues[line.pid] {
            lanes[Key(process: line.pid, number: thread)] = trace.queues[queue].laneCount
            trace.queues[queue].laneCount += 1
        }
    }

    private mutating func readSlice(_ line: Line) throws(TraceError) {
        guard let queue = queues[line.pid] else { throw wrong("process \(line.pid) has no name") }
        let thread = try required(line.tid, "tid")
        guard let lane = lanes[Key(process: line.pid, number: thread)] else {
            throw wrong("thread \(thread) of process \(line.pid) has no name")
        }
        let start = try time(line.ts, "ts")
        let slice = Trace.Slice(start: start, end: start + (try time(line.dur, "dur")), lane: lane)
        let number = try required(line.args?.op, "op")
        let outcome = line.args?.end.map { Trace.Outcome(rawValue: $0) ?? .unfinished } ?? .succeeded
        let key = Key(process: line.pid, number: number)
        if let index = indices[key] {
            let last = trace.operations[index].slices.last!
            // The end of the previous slice may be rounded.
            if slice.start < last.start || slice.end < last.end - 1e-6 {
                throw wrong("\"ts\" is before an earlier slice")
            }
            trace.operations[index].slices.append(slice)
            trace.operations[index].outcome = outcome
            return
        }
        let (added, ready) = (try time(line.args?.added, "added"), try time(line.args?.ready, "ready"))
        if ready < added { throw wrong("\"ready\" is before \"added\"") }
        if start < ready { throw wrong("\"ts\" is before \"ready\"") }
        indices[key] = trace.operations.count
        trace.operations.append(
            Trace.Operation(
                name: line.name ?? "#\(number)", queue: queue, number: number, added: added, ready: ready,
                slices: [slice], outcome: outcome))
    }

    private mutating func readArrow(_ line: Line) throws(TraceError) {
        let dependency = try required(line.args?.after, "after")
        if dependency.count != 2 { throw wrong("\"after\" is no process and number") }
        let number = try required(line.args?.op, "op")
        let (from, to) = (Key(process: dependency[0], number: dependency[1]), Key(process: line.pid, number: number))
        arrows.append((from, to, line.cat == "wait"))
    }

    /// Sets the dependencies and waits of the operations, and sorts the operations by their start.
    private mutating func connect() {
        trace.beginning = trace.operations.map(\.added).min() ?? 0
        trace.duration = (trace.operations.map(\.end).max() ?? 0) - trace.beginning
        for arrow in arrows {
            // One of the two operations may be missing, because its slice may be in the previous file.
            guard let dependency = indices[arrow.from], let dependent = indices[arrow.to] else { continue }
            if arrow.isWait {
                trace.operations[dependent].awaited.append(dependency)
            } else {
                trace.operations[dependent].dependencies.append(dependency)
            }
        }
        let order = trace.operations.indices.sorted { trace.operations[$0].start < trace.operations[$1].start }
        var places = [Int](repeating: 0, count: order.count)
        for (place, index) in order.enumerated() { places[index] = place }
        trace.operations = order.map { index in
            var operation = trace.operations[index]
            operation.dependencies = operation.dependencies.map { places[$0] }
            operation.awaited = operation.awaited.map { places[$0] }
            return operation
        }
    }
}
