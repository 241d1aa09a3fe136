/// The steps and the failures of a schedule.
struct ScheduleReport {
    private(set) var failures: [String] = []
    /// The steps and notes as text, if the report keeps them.
    private(set) var trace: [String] = []
    /// For each step, the hash of all steps up to it. Two schedules are equal up to the first step whose hashes differ.
    private(set) var digests: [UInt64] = []
    /// For each step, its line in `trace`, if the report keeps the trace.
    private(set) var lines: [Int] = []
    fileprivate let keepsTrace: Bool

    init(keepsTrace: Bool) {
        self.keepsTrace = keepsTrace
    }

    /// The hash of all steps (FNV-1a).
    var digest: UInt64 { digests.last ?? 14_695_981_039_346_656_037 }

    fileprivate mutating func append(_ step: UInt64, _ line: @autoclosure () -> String) {
        digests.append((digest ^ step) &* 1_099_511_628_211)
        if keepsTrace {
            lines.append(trace.count)
            trace.append(line())
        }
    }

    fileprivate mutating func note(_ line: @autoclosure () -> String) {
        if keepsTrace { trace.append(line()) }
    }

    fileprivate mutating func fail(_ message: String) {
        if failures.count < 10 { failures.append(message) }
    }
}

extension Turnstile {
    func fail(_ message: String) { report.fail(message) }

    /// Adds a line to the trace.
    func note(_ text: @autoclosure () -> String) { report.note("\(describe(current)): \(text())") }

    /// Adds the step of a thread.
    func record(_ thread: ControlledThread) {
        let (kind, object) = code(of: thread.step)
        let number = object.map { UInt64($0.number(in: self)) } ?? 0
        report.append(
            UInt64(thread.number) << 40 | number << 8 | kind, "\(describe(thread)) \(describe(thread.step))")
    }

    private func code(of step: ControlledThread.Step) -> (kind: UInt64, object: SharedObject?) {
        switch step {
        case .start: (0, nil)
        case .access(let object, let access): (1 + UInt64(access.rawValue), object)
        case .acquire(let lock): (6, lock)
        case .mutex: (12, nil)
        case .wait(let condition, _): (7, condition)
        case .fire: (8, nil)
        case .yield: (9, nil)
        case .quiet: (10, nil)
        case .pause: (11, nil)
        }
    }

    /// The locks that each thread holds, and the wait of each thread.
    var states: String {
        threads.map { thread in
            let held = thread.held.map { $0.name(in: self) }.joined(separator: ", ")
            return "  \(describe(thread)) \(describe(thread.step)), holds \(held.isEmpty ? "nothing" : held)"
        }.joined(separator: "\n")
    }

    func describe(_ thread: ControlledThread) -> String { "\(thread.name) [\(thread.number)]" }

    private func describe(_ step: ControlledThread.Step) -> String {
        switch step {
        case .start: "starts"
        case .access(let object, let access): "\(access) \(object.name(in: self))"
        case .acquire(let lock): "takes \(lock.name(in: self))"
        case .mutex: "takes a mutex of the runtime"
        case .wait(let condition, _): "waits for \(condition.name(in: self))"
        case .fire: "fires"
        case .pause: "runs"
        case .yield: "yields"
        case .quiet: "waits until no other thread can run"
        }
    }
}
