import Foundation

/// Checks the rules of the Trace Event Format and further rules of the library. Slices of a lane do not overlap, each
/// wait and arrow has both ends, and times on a lane do not decrease.
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

    init(_ url: URL) throws {
        let text = try String(contentsOf: url, encoding: .utf8)
        // The readers of the format complete a truncated file in the same way.
        let whole = text.hasSuffix("]\n") ? text : text + "\n]"
        let events = try JSONSerialization.jsonObject(with: Data(whole.utf8)) as? [[String: Any]] ?? []
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
        if let last = slices[thread]?.last {
            demand(time >= last.end - 0.0006, "\(event) overlaps what ends at \(last.end)")
        }
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
        let (waits, arrows) = (waits, arrows)
        demand(waits.isEmpty, "waits \(waits) do not end")
        demand(arrows.isEmpty, "arrows \(arrows) do not end")
        demand(processes.isDisjoint(with: threads), "a thread has the number of a process")
        for event in events where ["s", "f"].contains(event["ph"] as? String) {
            let (thread, time) = (event["tid"] as? Int ?? 0, event["ts"] as? Double ?? 0)
            let isIn = slices[thread, default: []].contains { $0.start - 0.0006 <= time && time <= $0.end + 0.0006 }
            demand(isIn, "\(event) is in no slice")
        }
    }
}
