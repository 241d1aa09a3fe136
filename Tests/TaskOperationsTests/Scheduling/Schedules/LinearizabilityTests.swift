import Foundation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Calls at once have results of calls one after another", .prompt, .endsInTime)
struct LinearizabilityTests {
    private static func schedules(_ count: Int = 1_000) -> Schedules {
        var schedules = Schedules(count)
        // The actors use no other threads.
        schedules.patience = .zero
        return schedules
    }

    @Test("A fault of reentrancy is found without a specification", arguments: ReentrantActor.all)
    func fault(_ subject: ReentrantActor) throws {
        let found = try #require(
            throws: ScheduleFailure.self, performing: { try subject.explore(false, Self.schedules()) })
        #expect(found.description.contains("The results fit no order of the calls:"))
    }

    @Test("The mended actor holds", arguments: ReentrantActor.all)
    func mended(_ subject: ReentrantActor) throws {
        try subject.explore(true, Self.schedules(isDeep ? 3_000 : 400))
    }

    @Test("The failure names a program that fails again alone, with no call too many")
    func program() throws {
        func explore(_ settings: Schedules, _ tasks: [[String]]) throws {
            try settings.linearizable(
                { Sum() },
                calls: [
                    "value": { await $0.value }, "add(1)": { await $0.add(1) }, "add(2)": { await $0.add(2) },
                    "name": { _ in "counter" },
                ],
                tasks: tasks)
        }
        let found = try #require(
            throws: ScheduleFailure.self, performing: { try explore(Self.schedules(), []) })
        let lines = found.description.split(separator: "\n")
        #expect(lines[1...2].allSatisfy { $0.hasPrefix("    caller") && $0.contains("add(") && !$0.contains(",") })
        #expect(throws: ScheduleFailure.self) {
            try explore(Schedules(only: found.schedule), [["add(1)"], ["add(2)"]])
        }
    }

    @Test("Calls that wait for other calls, and calls that throw, fit an order")
    func waiting() throws {
        try Self.schedules().linearizable(
            { OnePermit() },
            calls: ["take": { await $0.take() }, "give": { await $0.give() }, "check": { try await $0.check() }])
    }

    @Test(
        "Two calls that use a lock twice are found if threads are controlled", .enabled(if: isLinux),
        arguments: [false, true])
    func locks(isMended: Bool) throws {
        func explore(_ settings: Schedules) throws {
            try settings.linearizable({ Stock() }, calls: ["take": { $0.take(isMended: isMended) }])
        }
        try explore(Self.schedules())
        var schedules = Self.schedules()
        schedules.threads = .controlled
        if isMended { return try explore(schedules) }
        #expect(throws: ScheduleFailure.self) { try explore(schedules) }
    }

    @Test(
        "A semaphore's calls have results of calls one after another",
        arguments: [ScheduleThreads.one, .controlled])
    func semaphore(_ threads: ScheduleThreads) throws {
        var schedules = Self.schedules(isDeep ? 3_000 : 1_000)
        schedules.threads = threads
        try schedules.linearizable(
            { AsyncSemaphore(capacity: 1) },
            calls: [
                "acquire": { try await $0.acquire() }, "tryAcquire": { $0.tryAcquire() }, "capacity": { $0.capacity },
                "capacity = 2": { $0.capacity = 2 }, "available": { $0.available },
                "waitingCount": { $0.waitingCount },
            ])
    }
}

extension OnePermit {
    fileprivate func check() throws { if !isFree { throw Fault() } }
}

private actor Sum {
    private(set) var value = 0

    func add(_ number: Int) async -> Int {
        let old = value
        await Task.yield()
        value = old + number
        return value
    }
}

/// One piece, which several callers take.
private final class Stock: @unchecked Sendable {
    private let lock = NSLock()
    // The lock protects it.
    private var count = 1

    func take(isMended: Bool) -> Bool {
        if isMended {
            return lock.withLock {
                if count == 0 { return false }
                count -= 1
                return true
            }
        }
        guard lock.withLock({ count > 0 }) else { return false }
        lock.withLock { count -= 1 }
        return true
    }
}
