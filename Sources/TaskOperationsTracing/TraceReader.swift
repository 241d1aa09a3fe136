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
    /// The lane of each thread.
    private var lanes: [Int: Int] = [:]
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

    private mutating func readName(_ line: Line) throws(TraceError) {
        let name = try required(line.args?.name, "name")
        if line.name == "process_name" {
            queues[line.pid] = trace.queues.count
            trace.queues.append(Trace.Queue(name: name, width: line.args?.width))
        } else if line.name == "thread_name", let thread = line.tid, let queue = queues[line.pid] {
            lanes[thread] = trace.queues[queue].laneCount
            trace.queues[queue].laneCount += 1
        }
    }

    private mutating func readSlice(_ line: Line) throws(TraceError) {
        guard let queue = queues[line.pid] else { throw wrong("process \(line.pid) has no name") }
        guard let lane = lanes[try required(line.tid, "tid")] else { throw wrong("thread \(line.tid!) has no name") }
        let start = try required(line.ts, "ts")
        let duration = try required(line.dur, "dur")
        if duration < 0 { throw wrong("\"dur\" is negative") }
        let number = try required(line.args?.op, "op")
        let slice = Trace.Slice(start: start / 1e6, end: (start + duration) / 1e6, lane: lane)
        let outcome = line.args?.end.map { Trace.Outcome(rawValue: $0) ?? .unfinished } ?? .succeeded
        let key = Key(process: line.pid, number: number)
        if let index = indices[key] {
            trace.operations[index].slices.append(slice)
            trace.operations[index].outcome = outcome
            return
        }
        indices[key] = trace.operations.count
        trace.operations.append(
            Trace.Operation(
                name: line.name ?? "#\(number)", queue: queue, number: number,
                added: (try required(line.args?.added, "added")) / 1e6,
                ready: (try required(line.args?.ready, "ready")) / 1e6, slices: [slice], outcome: outcome))
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
