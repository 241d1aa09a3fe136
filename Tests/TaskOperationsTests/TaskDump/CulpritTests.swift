import TestSupport
import Testing

@testable import TaskDump

@Suite("The causes in a task dump", .endsInTime)
struct CulpritTests {
    /// A task that waits for others.
    private func task(
        _ number: UInt64, _ function: String, waitsFor targets: [UInt64] = [], _ wait: TaskDump.Wait = .continuation,
        line: UInt64? = nil, owner: TaskDump.Frame.Owner = .program
    ) -> TaskDump.Entry {
        let frame = TaskDump.Frame(function: function, place: "File.swift:\(line ?? number)", owner: owner)
        var entry = TaskDump.Entry(
            number: number, name: nil, priority: .medium, isCancelled: false, creators: [], frames: [frame], wait: wait,
            parent: nil)
        entry.targets = targets.map { .task($0) }
        if let first = targets.first { entry.wait = .task(first) }
        return entry
    }

    private func culprits(_ tasks: [TaskDump.Entry]) -> [TaskDump.Culprit] { TaskDump.Graph(tasks, []).culprits }

    @Test("The task at the end of a chain of waits is the cause, and all others are held up")
    func chain() {
        let all = culprits([task(1, "a", waitsFor: [2]), task(2, "b", waitsFor: [3]), task(3, "c")])
        #expect(all.map(\.tasks) == [[3]])
        #expect(all.map(\.heldUp) == [[1, 2]])
        #expect(all.first?.description.hasPrefix("1 task holds up 2 others: c (File.swift:3)") == true)
    }

    @Test("Of equal tasks, the one for which a task waits is shown, and its own line is the first of those held up")
    func representative() {
        let tasks = [
            task(1, "a", line: 9), task(2, "a", line: 9), task(3, "test", waitsFor: [2]),
            task(4, "library", waitsFor: [1], owner: .system),
        ]
        let lines = TaskDump(tasks: tasks).causes(of: 3).split(separator: "\n")
        #expect(lines[1].hasPrefix("    task 2"))
        #expect(lines[2] == "    held up: task 3, test (File.swift:3) waits for another task")
        #expect(lines[3] == "    held up: task 4 of libraries")
    }

    @Test("A dump without a list of tasks has the threads that block")
    func threads() {
        let frame = TaskDump.Frame(function: "f", place: "File.swift:1", owner: .program)
        let idle = TaskDump.Frame(function: "worker", place: nil, owner: .system)
        let threads = [
            TaskDump.ThreadEntry(number: 7, task: nil, blockedIn: "read", frames: [frame]),
            TaskDump.ThreadEntry(number: 8, task: nil, blockedIn: "futex", frames: [idle]),
        ]
        let dump = TaskDump(tasks: [], threads: threads, limitation: "No tasks.")
        #expect(dump.culprits.map(\.description) == ["1 thread: f (File.swift:1) blocks thread 7 in read"])
        #expect(TaskDump(tasks: [], threads: threads).culprits.isEmpty)
    }

    @Test("The cause that holds up most tasks is first")
    func order() {
        let all = culprits([
            task(1, "a"), task(2, "b", waitsFor: [1]), task(3, "c"), task(4, "d", waitsFor: [3]),
            task(5, "e", waitsFor: [3]),
        ])
        #expect(all.map(\.tasks) == [[3], [1]])
    }

    @Test("Tasks that wait for each other are one cause, which tasks before the cycle do not belong to")
    func cycle() {
        let all = culprits([
            task(1, "a", waitsFor: [2]), task(2, "b", waitsFor: [3]), task(3, "c", waitsFor: [4]),
            task(4, "d", waitsFor: [2]),
        ])
        #expect(all.map(\.isCycle) == [true])
        #expect(all.map(\.tasks) == [[2, 3, 4]])
        #expect(all.map(\.heldUp) == [[1]])
    }

    @Test("A thread that has the lock for which a task waits is the cause, and other threads are none")
    func lockOfThread() {
        func thread(_ number: Int, waitsFor targets: [TaskDump.Node] = []) -> TaskDump.ThreadEntry {
            let frame = TaskDump.Frame(function: "t", place: "File.swift:\(number)", owner: .program)
            return TaskDump.ThreadEntry(
                number: number, task: nil, blockedIn: "lock", frames: [frame], targets: targets)
        }
        var waiter = task(1, "a", .thread("lock"))
        waiter.targets = [.thread(7)]
        let chain = TaskDump.Graph([waiter], [thread(7, waitsFor: [.thread(8)]), thread(8), thread(9)]).culprits
        #expect(chain.map(\.description) == ["1 thread holds up 1 task: t (File.swift:8) blocks thread 8 in lock"])
        let cycle = TaskDump.Graph([waiter], [thread(7, waitsFor: [.task(1)])]).culprits
        #expect(
            cycle.map(\.description) == [
                "1 task and 1 thread wait for each other: a (File.swift:1) (task 1) → t (File.swift:7) (thread 7) → the first"
            ])
    }

    @Test("A task that waits for itself is a cause")
    func itself() {
        let all = culprits([task(1, "a", waitsFor: [1]), task(2, "b", waitsFor: [1])])
        #expect(all.map(\.tasks) == [[1]])
        #expect(all.map(\.heldUp) == [[2]])
    }

    @Test("Equal tasks are one cause")
    func equal() {
        let frame = TaskDump.Frame(function: "f", place: "File.swift:1", owner: .program)
        let tasks = (1...1_000).map { number in
            TaskDump.Entry(
                number: number, name: nil, priority: .medium, isCancelled: false, creators: [], frames: [frame],
                wait: .element, parent: nil)
        }
        let all = culprits(tasks)
        #expect(all.count == 1)
        #expect(all.first?.tasks.count == 1_000)
    }

    @Test("A blocked thread precedes a continuation, and a sleep is last")
    func ranks() {
        let all = culprits([
            task(1, "a", .sleep(remaining: nil)), task(2, "b"), task(3, "c", .thread("read")), task(4, "d", .element),
        ])
        #expect(all.map(\.tasks) == [[3], [2], [4], [1]])
    }

    @Test("A chain of 100,000 tasks needs no recursion and no quadratic time")
    func longChain() {
        let count: UInt64 = 100_000
        let tasks = (1...count).map { task($0, "f", waitsFor: $0 < count ? [$0 + 1] : []) }
        #expect(culprits(tasks).map(\.heldUp.count) == [Int(count) - 1])
    }

    @Test("Sleeps of different lengths in one place are one cause")
    func sleeps() {
        let sleepers = (1...1_000).map { number in
            var entry = task(1, "rest", .sleep(remaining: .seconds(number)))
            entry = TaskDump.Entry(
                number: UInt64(number), name: nil, priority: .medium, isCancelled: false, creators: [],
                frames: entry.frames, wait: entry.wait, parent: nil)
            return entry
        }
        let all = culprits(sleepers)
        #expect(all.map(\.tasks.count) == [1_000])
        #expect(all.first?.description == "1000 tasks: rest (File.swift:1) sleeps")
    }

    @Test("A cause does not wait for a task that was left out")
    func filtered() {
        let dump = TaskDump(tasks: [task(1, "a", waitsFor: [2]), task(2, "b")]).filtered { $0 == 1 }
        #expect(dump.culprits.map(\.tasks) == [[1]])
        #expect(dump.culprits.map(\.heldUp) == [[]])
    }

    @Test("A description has at most 24 lines")
    func lines() {
        let dump = TaskDump(tasks: (1...100).map { task($0, "function\($0)") })
        let lines = dump.description.split(separator: "\n")
        #expect(lines.count <= 24 && lines.count > 20)
        #expect(lines.last?.hasPrefix("… and ") == true)
    }

    @Test("Names from data stay on one line")
    func escaping() {
        #expect("a\nb\u{1B}[31m\u{2028}c".onOneLine == "a b [31m c")
        #expect("plain “ä” name".onOneLine == "plain “ä” name")
    }
}
