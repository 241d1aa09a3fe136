import Dispatch
import Foundation
import TaskDump

// Each line that a dump must name carries the comment `culprit`. If `isMended` is true, the fault is mended.

/// Continuations that the mended programs resume.
final class Continuations: @unchecked Sendable {
    // The lock protects the list.
    private let lock = NSLock()
    private var list: [CheckedContinuation<Void, Never>] = []

    func add(_ continuation: CheckedContinuation<Void, Never>) {
        lock.withLock { list.append(continuation) }
    }
}

let forgotten = Continuations()

/// A callback API that sometimes forgets its callback.
@inline(never)
func answer(_ continuation: CheckedContinuation<Void, Never>) {
    if isMended { continuation.resume() } else { forgotten.add(continuation) }
}

@inline(never)
func lostContinuation() async {
    await withCheckedContinuation { continuation in  // culprit lostContinuation
        answer(continuation)
    }
    print("answered")
}

@inline(never)
func lost() async {
    let task = Task { await lostContinuation() }
    await task.value
}

// MARK: - Blocked threads

@inline(never)
func blockOnSemaphore() {
    let semaphore = DispatchSemaphore(value: 0)
    if isMended { semaphore.signal() }
    semaphore.wait()  // culprit semaphore
    print("woken")
}

@inline(never)
func blockOnLock() {
    let lock = NSLock()
    lock.lock()
    if isMended { lock.unlock() }
    lock.lock()  // culprit lock
    lock.unlock()
}

@inline(never)
func holdLockOnThread() async {
    let lock = NSLock()
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            lock.lock()
            continuation.resume()
            if !isMended { sleepWithLock() }
            lock.unlock()
        }
    }
    await inPool { lock.withLock { print("locked") } }
}

@inline(never)
func sleepWithLock() {
    Thread.sleep(forTimeInterval: 3_600)  // culprit lockOfThread
    print("woken")
}

@inline(never)
func lockBoth(_ first: NSLock, _ second: NSLock, _ isLocked: DispatchSemaphore, _ isOtherLocked: DispatchSemaphore) {
    first.lock()
    isLocked.signal()
    isOtherLocked.wait()
    if isMended { first.unlock() }
    second.lock()  // culprit twoLocks
    second.unlock()
    if !isMended { first.unlock() }
}

/// A task and a thread lock two locks in different orders.
@inline(never)
func twoLocks() async {
    let (one, other) = (NSLock(), NSLock())
    let (isOneLocked, isOtherLocked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread { lockBoth(one, other, isOneLocked, isOtherLocked) }
    await inPool { lockBoth(other, one, isOtherLocked, isOneLocked) }
}

@inline(never)
func blockInSleep() {
    let duration: TimeInterval = isMended ? 0.01 : 3_600
    Thread.sleep(forTimeInterval: duration)  // culprit threadSleep
    print("woken")
}

@inline(never)
func blockInRead() {
    if isMended { return }
    let line = readLine()  // culprit readLine
    print(line ?? "")
}

@inline(never)
func inPool(_ body: @escaping @Sendable () -> Void) async {
    let task = Task.detached(name: "worker") { body() }
    await task.value
}

// MARK: - Tasks that wait for each other

actor Handles {
    private var handles: [String: Task<Void, Never>] = [:]
    func set(_ name: String, _ task: Task<Void, Never>) { handles[name] = task }
    func task(_ name: String) async -> Task<Void, Never> {
        while handles[name] == nil { await Task.yield() }
        return handles[name]!
    }
}

@inline(never)
func awaitTask(_ name: String, _ handles: Handles) async {
    let task = await handles.task(name)
    if isMended, name == "a" { return }
    await task.value  // culprit cycle
    print(name)
}

@inline(never)
func cycle() async {
    let handles = Handles()
    let (a, b, c) = (
        Task(name: "a") { await awaitTask("b", handles) }, Task(name: "b") { await awaitTask("c", handles) },
        Task(name: "c") { await awaitTask("a", handles) }
    )
    await handles.set("a", a)
    await handles.set("b", b)
    await handles.set("c", c)
    await a.value
}

// MARK: - Actors

actor Cache {
    private var values: [Int] = []

    func store(_ value: Int) { values.append(value) }

    func loadNow() {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await self.store(1)
            done.signal()
        }
        if isMended { return }
        done.wait()  // culprit actor
        print("loaded")
    }
}

@inline(never)
func blockedActor() async {
    let cache = Cache()
    let others = (0..<3).map { number in Task { await cache.store(number) } }
    await cache.loadNow()
    for other in others { await other.value }
}

actor Disk {
    private var count = 0
    func write() {
        if isMended { return }
        sleep(1_000)  // culprit actorSleeps
        count += 1
    }
    func read() -> Int { count }
}

@inline(never)
func sleepingActor() async {
    let disk = Disk()
    let writer = Task { await disk.write() }
    let others = (0..<3).map { _ in Task { print(await disk.read()) } }
    await writer.value
    for other in others { await other.value }
}

@MainActor
func blockMainActor() {
    let done = DispatchSemaphore(value: 0)
    Task { @MainActor in done.signal() }
    if isMended { return }
    done.wait()  // culprit mainActor
    print("done")
}

@inline(never)
func blockedMainActor() async {
    let others = (0..<3).map { _ in
        Task { @MainActor in print("on the main actor") }
    }
    await blockMainActor()
    for other in others { await other.value }
}

// MARK: - Children

@inline(never)
func endlessChild() async {
    while !isMended {
        try? await Task.sleep(for: .seconds(3_600))  // culprit group
        print("once more")
    }
}

@inline(never)
func groupOfEndlessChild() async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await endlessChild() }
        group.addTask { print("short") }
        await group.waitForAll()
        print("all")
    }
}

@inline(never)
func letNeverEnds() async {
    await withCheckedContinuation { continuation in  // culprit asyncLet
        answer(continuation)
    }
    print("ended")
}

@inline(never)
func asyncLet() async {
    async let value: Void = letNeverEnds()
    if Int.random(in: 0...1) == 2 { await value }
    print("the scope ends")
}

// MARK: - Sequences

@inline(never)
func consume(_ stream: AsyncStream<Int>) async {
    for await number in stream {  // culprit stream
        print(number)
    }
    print("finished")
}

@inline(never)
func unfinishedStream() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let consumer = Task { await consume(stream) }
    continuation.yield(1)
    if isMended { continuation.finish() }
    await consumer.value
    continuation.finish()
}

// MARK: - Freed objects

final class Request: @unchecked Sendable {
    // One task uses an instance.
    private var continuation: UnsafeContinuation<Void, Never>?

    func start() async {
        await withUnsafeContinuation { continuation in  // culprit freed
            self.continuation = continuation
            register()
        }
        print("started")
    }

    private func register() {
        // The weak reference is lost with the object.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { [weak self] in
            if isMended { self?.continuation?.resume() }
        }
    }
}

@inline(never)
func freedObject() async {
    let task = Task {
        let request = Request()
        await request.start()
    }
    await task.value
}

// MARK: - Many

@inline(never)
func thousand() async {
    let one = Task(name: "one") { await lostOfThousand() }
    let others = (0..<1_000).map { _ in Task { await one.value } }
    for other in others { await other.value }
}

@inline(never)
func lostOfThousand() async {
    await withCheckedContinuation { continuation in  // culprit thousand
        answer(continuation)
    }
    print("answered")
}
