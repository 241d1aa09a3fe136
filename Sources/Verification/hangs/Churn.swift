import Foundation
import Synchronization
import TaskDump

/// Tasks of every kind that are created and end at full speed, and a journal of them. Each dump must agree with it.
enum Churn {
    struct Life {
        let name: String
        /// The name of the task that this one awaits; nil if it awaits none.
        var awaits: String?
        /// Whether another task has received the value. The runtime then has marked the task as ended.
        var isOver = false
    }

    private struct Journal {
        var lives: [String: Life] = [:]
        /// The number of dumps that are taken or checked now. The journal keeps what they may contain.
        var checks = 0
    }

    private static let journal = Mutex(Journal())
    private static let isOver = Atomic(false)
    private static let created = Atomic(0)

    private static func note(_ name: String, awaits: String? = nil) {
        journal.withLock { $0.lives[name] = Life(name: name, awaits: awaits) }
    }

    private static func end(_ name: String) { journal.withLock { $0.lives[name]?.isOver = true } }

    private actor Counter {
        var value = 0
        func add() { value += 1 }
    }

    /// A task with a name, which awaits another one with a name.
    private static func pair(_ counter: Counter) async {
        let number = created.add(1, ordering: .relaxed).newValue
        let (inner, outer) = ("inner \(number)", "outer \(number)")
        note(inner)
        note(outer, awaits: inner)
        let first = Task.detached(name: inner) {
            for _ in 0..<Int.random(in: 0...3) { await Task.yield() }
            await counter.add()
        }
        let second = Task.detached(name: outer) {
            await first.value
            end(inner)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { await counter.add() } }
        }
        async let one: Void = counter.add()
        async let two: Void = second.value
        _ = await (one, two)
        end(outer)
    }

    static func run(seconds: Double) -> Never {
        _ = TaskDump.capture()
        let counter = Counter()
        for _ in 0..<8 {
            Thread.detachNewThread {
                while !isOver.load(ordering: .relaxed) {
                    let done = DispatchSemaphore(value: 0)
                    Task.detached {
                        await pair(counter)
                        done.signal()
                    }
                    done.wait()
                }
            }
        }
        // Two threads take dumps at once.
        let second = Thread {
            while !isOver.load(ordering: .relaxed) { check() }
        }
        second.start()
        let end = Date(timeIntervalSinceNow: seconds)
        var count = 0
        while Date() < end {
            check()
            count += 1
            usleep(.random(in: 0..<3_000))
        }
        isOver.store(true, ordering: .relaxed)
        print("\(count) dumps beside \(created.load(ordering: .relaxed)) pairs of tasks agree with the journal.")
        exit(0)
    }

    private static func check() {
        let ended = journal.withLock { journal in
            journal.checks += 1
            return Set(journal.lives.values.filter(\.isOver).map(\.name))
        }
        let dump = TaskDump.capture()
        let lives = journal.withLock { $0.lives }
        let names = Dictionary(dump.tasks.map { ($0.number, $0.name) }) { first, _ in first }
        for task in dump.tasks {
            guard let name = task.name else { continue }
            if ended.contains(name) { fail("\(name) had ended", dump) }
            guard let life = lives[name] else { fail("no task has the name \(name)", dump) }
            if case .task(let number) = task.wait, let target = names[number], let target, target != life.awaits {
                fail("\(name) awaits \(life.awaits ?? "nothing"), not \(target)", dump)
            }
            if name.hasPrefix("inner "), case .children = task.wait { fail("\(name) has no group", dump) }
        }
        journal.withLock { journal in
            journal.checks -= 1
            if journal.checks == 0 { journal.lives = journal.lives.filter { !$0.value.isOver } }
        }
    }

    private static func fail(_ message: String, _ dump: TaskDump) -> Never {
        FileHandle.standardOutput.write(Data((message + "\n" + dump.fullDescription).utf8))
        _exit(5)
    }
}
