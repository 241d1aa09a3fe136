import Foundation
import TaskDump
import TaskOperationsDiagnosis

// Programs that hang in known ways: hangs NAME [mended]. A program that hangs prints a dump after a moment, and exits
// with 3. A mended one ends, and exits with 0; if it is reported as a hang, it exits with 4. With `long`, it is repeated
// for two seconds. `hangs churn SECONDS`
// compares dumps with a journal. The programs of Watched.swift end by themselves.

let arguments = CommandLine.arguments
let isMended = arguments.contains("mended")

let hangs: [(name: String, run: @Sendable () async throws -> Void)] = [
    ("lostContinuation", { await lost() }),
    ("semaphore", { await inPool { blockOnSemaphore() } }),
    ("lock", { await inPool { blockOnLock() } }),
    ("lockOfThread", { await holdLockOnThread() }),
    ("twoLocks", { await twoLocks() }),
    ("threadSleep", { await inPool { blockInSleep() } }),
    ("readLine", { await inPool { blockInRead() } }),
    ("cycle", { await cycle() }),
    ("actor", { await blockedActor() }),
    ("actorSleeps", { await sleepingActor() }),
    ("group", { await groupOfEndlessChild() }),
    ("stream", { await unfinishedStream() }),
    ("fullQueue", { try await fullQueue() }),
    ("width", { try await widthOfZero() }),
    ("suspended", { try await suspendedQueue() }),
    ("limit", { try await heldLimit() }),
    ("key", { try await heldKey() }),
    ("barrier", { try await barrierFromOutside() }),
    ("asyncLet", { await asyncLet() }),
    ("mainActor", { await blockedMainActor() }),
    ("freed", { await freedObject() }),
    ("detached", { try await detachedHolder() }),
    ("thousand", { await thousand() }),
]

if arguments.count > 2, arguments[1] == "churn" { Churn.run(seconds: Double(arguments[2]) ?? 1) }
if arguments.count > 1, arguments[1] == "measure" {
    if arguments.contains("tasks") {
        let count = arguments.lazy.compactMap { Int($0) }.first ?? 300_000
        await Measure.tasks(count, isListing: arguments.contains("listed"))
    } else {
        await Measure.dumps()
    }
    exit(0)
}
if arguments.count > 1, let program = Watched.programs[arguments[1]] {
    await program()
    exit(0)
}
guard arguments.count > 1, let hang = hangs.first(where: { $0.name == arguments[1] }) else {
    print(hangs.map(\.name).joined(separator: "\n"))
    exit(2)
}

@Sendable func report(_ dump: TaskDump, _ status: Int32) {
    let text = arguments.contains("all") ? dump.fullDescription : dump.description
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
    _exit(status)
}

if isMended {
    TaskDump.watch(after: .seconds(1), explaining: .operations) { report($0, 4) }
} else {
    _ = TaskDump.capture()
    Thread.detachNewThread {
        Thread.sleep(forTimeInterval: 0.6)
        report(TaskDump.capture(explaining: .operations), 3)
    }
}
let end = ContinuousClock.now + .seconds(arguments.contains("long") ? 2 : 0)
repeat { try await hang.run() } while ContinuousClock.now < end
exit(0)
