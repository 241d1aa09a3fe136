internal import CTaskDump
internal import Synchronization

extension TaskDump {
    /// A signal of the system that asks for a dump.
    public struct Signal: Sendable {
        let number: Int32

        private init(_ signal: TaskDumpSignal) { number = taskDumpSignal(signal) }

        /// Control-backslash in a terminal, or `kill -QUIT`. Without a handler, it ends the process.
        public static let quit = Signal(.quit)
        /// `kill -USR1`.
        public static let user1 = Signal(.user1)
        /// `kill -USR2`.
        public static let user2 = Signal(.user2)
    }

    /// Prints a dump to standard error after the arrival of a signal, and lists the tasks that are created from now on.
    ///
    /// The process continues. A thread of its own prints, so a dump is printed even if all threads of the pool block.
    /// Signals that arrive during a dump cause one more.
    ///
    /// - Parameters:
    ///   - signal: The signal. A handler that the program installs for it later replaces the dump.
    ///   - explainer: Describes waits of a library. TaskOperationsDiagnosis has `.operations`.
    /// - Returns: False if the system cannot do that.
    @discardableResult
    public static func install(on signal: Signal, explaining explainer: Explainer? = nil) -> Bool {
        _ = taskDumpBegin()
        Self.signalExplainer.withLock { $0 = explainer ?? $0 }
        return taskDumpOnSignal(signal.number) {
            TaskDump.capture(explaining: TaskDump.signalExplainer.withLock(\.self)).print()
        } != 0
    }

    private static let signalExplainer = Mutex<Explainer?>(nil)

    /// Writes the dump to standard error.
    func print() {
        var text = description + "\n"
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { taskDumpPrint($0.baseAddress!, $0.count) }
        }
    }

    /// Reports when the program appears to hang: when no task has continued for a time while a task waits for
    /// something other than a sleep, or when a job that was put into the pool has not started for that time.
    ///
    /// A server without requests looks the same. A task that continues at regular times hides a hang of others. Each hang is
    /// reported once; when tasks continue, the next hang is reported again. A later call replaces the watch, which otherwise
    /// lasts as long as the process. It takes some microseconds for each task, four times in `duration`, and the time of a
    /// dump when all tasks have stopped.
    ///
    /// - Parameters:
    ///   - duration: The time without progress. At least 0.2 s, at most 30 years.
    ///   - explainer: Describes waits of a library. TaskOperationsDiagnosis has `.operations`.
    ///   - report: Receives the dump on a thread of its own; nil prints it to standard error.
    public static func watch(
        after duration: Duration, explaining explainer: Explainer? = nil,
        report: (@Sendable (TaskDump) -> Void)? = nil
    ) {
        _ = taskDumpBegin()
        let limited = min(max(duration, .milliseconds(200)), .seconds(1_000_000_000))
        let watch = HangWatch(limited, explainer, report ?? { $0.print() })
        startThread { watch.run() }
    }
}

/// Runs a function on a thread of its own.
package func startThread(_ work: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadWork(work))
    // The new thread takes over the reference; without a thread, this function releases it.
    let isStarted = taskDumpStartThread(
        { Unmanaged<ThreadWork>.fromOpaque($0!).takeRetainedValue().work() }, box.toOpaque())
    if isStarted == 0 { box.release() }
}

private final class ThreadWork: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Compares the tasks of a process with those of a moment ago.
private final class HangWatch: Sendable {
    private let duration: Duration
    private let explainer: TaskDump.Explainer?
    private let report: @Sendable (TaskDump) -> Void
    /// The name of the tasks of the watch.
    private static let probe = "probe of TaskDump.watch"
    /// The number of jobs of the watch that the pool has run.
    private let answers = Atomic(0)
    /// The number of the watch, and that of the latest one, which replaces the others.
    private let number = HangWatch.latest.add(1, ordering: .relaxed).newValue
    private static let latest = Atomic(0)

    init(_ duration: Duration, _ explainer: TaskDump.Explainer?, _ report: @escaping @Sendable (TaskDump) -> Void) {
        (self.duration, self.explainer, self.report) = (duration, explainer, report)
    }

    func run() {
        let pause = Int64(duration / 4 / .nanoseconds(1))
        taskDumpBeginProgress()
        taskDumpIgnoreThread()
        var (former, still, asked, examined) = (Fingerprint(), 0, 0, Fingerprint?.none)
        while Self.latest.load(ordering: .relaxed) == number {
            if answers.load(ordering: .relaxed) == asked {
                asked += 1
                Task.detached(name: Self.probe) { [self] in answers.add(1, ordering: .relaxed) }
            }
            let (asksSince, answered) = (asked, answers.load(ordering: .relaxed))
            taskDumpSleep(pause)
            var present = Fingerprint.current
            present.isPoolStill = answers.load(ordering: .relaxed) == answered && answered < asksSince
            // The tasks that compute in a full pool continue, but the others do not.
            still = present == former || present.isPoolStill && former.isPoolStill ? still + 1 : 0
            former = present
            if still == 0 { examined = nil }
            if still >= 4, examined == nil || examined != present && !present.isPoolStill {
                examined = present
                examine(isPoolStill: present.isPoolStill)
            }
        }
    }

    private func examine(isPoolStill: Bool) {
        let all = TaskDump.capture(explaining: explainer)
        let probes = Set(all.tasks.filter { $0.name == Self.probe }.map(\.number))
        let dump = all.filtered { !probes.contains($0) }
        // A thread that has, or waits for, a processor lets its task continue.
        let isStill = dump.threads.allSatisfy { $0.task == nil || $0.blockedIn != nil }
        if isPoolStill || isStill && dump.culprits.contains(where: { dump.isHang($0) }) { report(dump) }
    }

    /// The positions of all tasks. A task that waits in the same place again has the same position.
    private struct Fingerprint: Equatable {
        private var hash = 0
        /// The number of jobs and sleeps that were counted.
        private var progress: UInt64 = 0
        /// Whether no thread of the pool has run a job of the watch.
        var isPoolStill = false

        static var current: Fingerprint {
            let capacity = taskDumpList(nil, 0) + 64
            var births = [TaskDumpBirth](unsafeUninitializedCapacity: capacity) { buffer, count in
                count = min(taskDumpList(buffer.baseAddress, capacity), capacity)
            }
            defer { taskDumpFreeNames(&births, births.count) }
            var print = Fingerprint()
            print.progress = taskDumpProgress()
            var (state, count) = (TaskDumpState(), 0)
            var pending = births.map { (task: $0.task, number: $0.number) }
            // The children of `async let` are not listed.
            let children = UnsafeMutableBufferPointer<TaskDumpChild>.allocate(capacity: 64)
            defer { children.deallocate() }
            while let next = pending.popLast() {
                let isRead = taskDumpRead(
                    next.task!, next.number, &state, children.baseAddress!, &count, children.count)
                guard isRead != 0 else { continue }
                pending += children[..<count].map { ($0.task, $0.number) }
                var hasher = Hasher()
                hasher.combine(state.number)
                hasher.combine(state.status.rawValue)
                hasher.combine(state.functions.0)
                hasher.combine(state.contexts.0)
                print.hash ^= hasher.finalize()
            }
            return print
        }
    }
}

extension TaskDump {
    /// Whether a cause is no sleep that will end, and no computation.
    fileprivate func isHang(_ culprit: Culprit) -> Bool {
        guard let number = culprit.tasks.first, let entry = tasks.first(where: { $0.number == number }) else {
            return true
        }
        return switch entry.wait {
        case .sleep, .nothing: false
        default: true
        }
    }
}
