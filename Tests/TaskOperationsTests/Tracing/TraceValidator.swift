import Foundation
import TaskOperationsDiagnosis

extension Trace {
    /// The faults of the trace's JSON text.
    var textFaults: [String] {
        do { return try TraceValidator(perfettoJSON).faults } catch { return ["\(error)"] }
    }
}

/// Checks the rules of the Trace Event Format and further rules of the library. Slices of a lane do not overlap, each
/// arrow has both ends, no wait ends without a beginning, and times on a lane do not decrease.
struct TraceValidator {
    private(set) var faults: [String] = []
    private(set) var eventCount = 0
    private var slices: [Int: [(start: Double, end: Double)]] = [:]
    private var waits: [String: Double] = [:]
    private var arrows: [Int: (thread: Int, time: Double)] = [:]
    private var lastCount: [Int: Double] = [:]
    private var processes: Set<Int> = []
    private var threads: Set<Int> = []
    private var names: Set<Int> = []

    /// - Parameter text: The text of `Trace.perfettoJSON`.
    init(_ text: String) throws {
        let events = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        eventCount = events.count
        for event in events { check(event) }
        checkEnds(events)
    }

    private mutating func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { faults.append(message()) }
    }

    private mutating func check(_ event: [String: Any]) {
        guard let phase = event["ph"] as? String, let process = event["pid"] as? Int else {
            return faults.append("\(event) has no phase or process")
        }
        let (time, thread) = (event["ts"] as? Double, event["tid"] as? Int)
        if let thread { threads.insert(thread) }
        processes.insert(process)
        if phase == "M" {
            names.insert(thread ?? process)
            return
        }
        demand(names.contains(process), "process \(process) has no name before \(event)")
        if let thread { demand(names.contains(thread), "thread \(thread) has no name before \(event)") }
        guard let time, time >= 0 else { return faults.append("\(event) has no time") }
        switch phase {
        case "X": checkSlice(event, process, thread, time)
        case "b", "e": checkWait(event, process, phase, time)
        case "s", "f": checkArrow(event, thread, phase, time)
        case "C":
            demand(time >= lastCount[process, default: 0], "\(event) goes back")
            lastCount[process] = time
        case "i": demand(event["s"] as? String == "p", "\(event) has no scope")
        default: faults.append("\(event) has an unknown phase")
        }
    }

    private mutating func checkSlice(_ event: [String: Any], _ process: Int, _ thread: Int?, _ time: Double) {
        guard let thread, let duration = event["dur"] as? Double, event["name"] is String else {
            return faults.append("\(event) is no slice")
        }
        demand(duration >= 0, "\(event) ends before it begins")
        slices[thread, default: []].append((time, time + duration))
    }

    private mutating func checkWait(_ event: [String: Any], _ process: Int, _ phase: String, _ time: Double) {
        guard let number = (event["id2"] as? [String: Any])?["local"] as? String, event["cat"] is String else {
            return faults.append("\(event) is no wait")
        }
        let key = "\(process) \(number)"
        if phase == "b" {
            demand(waits[key] == nil, "\(event) begins twice")
            waits[key] = time
        } else {
            let begin = waits.removeValue(forKey: key)
            demand(begin != nil && begin! <= time, "\(event) ends without a beginning, or before it")
        }
    }

    private mutating func checkArrow(_ event: [String: Any], _ thread: Int?, _ phase: String, _ time: Double) {
        guard let number = event["id"] as? Int, let thread else { return faults.append("\(event) is no arrow") }
        if phase == "s" {
            demand(arrows[number] == nil, "\(event) begins twice")
            arrows[number] = (thread, time)
        } else {
            let begin = arrows.removeValue(forKey: number)
            demand(begin != nil && begin!.time <= time, "\(event) ends without a beginning, or before it")
        }
    }

    private mutating func checkEnds(_ events: [[String: Any]]) {
        // The waits of operations that never started do not end.
        let arrows = arrows
        for (thread, slices) in slices {
            let sorted = slices.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
            for (first, second) in zip(sorted, sorted.dropFirst()) {
                demand(second.start >= first.end - 0.0006, "\(second) overlaps \(first) on \(thread)")
            }
        }
        demand(arrows.isEmpty, "arrows \(arrows) do not end")
        demand(processes.isDisjoint(with: threads), "a thread has the number of a process")
        for event in events where ["s", "f"].contains(event["ph"] as? String) {
            let (thread, time) = (event["tid"] as? Int ?? 0, event["ts"] as? Double ?? 0)
            let isIn = slices[thread, default: []].contains { $0.start - 0.0006 <= time && time <= $0.end + 0.0006 }
            demand(isIn, "\(event) is in no slice")
        }
    }
}
