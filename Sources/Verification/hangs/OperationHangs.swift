import TaskOperations

/// An operation's body that never ends.
@inline(never)
func stuckBody() async {
    await withCheckedContinuation { continuation in  // culprit fullQueue
        answer(continuation)
    }
    print("body")
}

@inline(never)
func fullQueue() async throws {
    let queue = TaskOperationQueue(
        .init(name: "full", maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1))
    queue.addOperation(name: "first") { await stuckBody() }
    queue.addOperation(name: "second") { print("second") }
    let third = try await queue.addOperationWaitingForRoom { print("third") }
    try await third.value
}

@inline(never)
func widthOfZero() async throws {
    let queue = TaskOperationQueue(name: "narrow", maxConcurrentOperationCount: isMended ? 1 : 0)
    let operation = queue.addOperation(name: "never") { 1 }
    let value = try await operation.value  // culprit width
    print(value)
}

@inline(never)
func suspendedQueue() async throws {
    let queue = TaskOperationQueue(name: "paused", maxConcurrentOperationCount: 1)
    queue.isSuspended = !isMended
    let operation = queue.addOperation(name: "later") { 1 }
    let value = try await operation.value  // culprit suspended
    print(value)
}

@inline(never)
func holdPermit(of semaphore: AsyncSemaphore) async {
    try? await semaphore.withPermit {
        await withCheckedContinuation { continuation in  // culprit limit
            answer(continuation)
        }
        print("used")
    }
}

@inline(never)
func heldLimit() async throws {
    let limit = AsyncSemaphore(capacity: 1, name: "connections")
    let holder = Task { await holdPermit(of: limit) }
    while limit.available > 0, !isMended { await Task.yield() }
    let queue = TaskOperationQueue(name: "requests", maxConcurrentOperationCount: 4)
    let operation = queue.addOperation(.limit(limit)) { print("request") }
    try await operation.value
    await holder.value
}

@inline(never)
func stuckRequest() async {
    await withCheckedContinuation { continuation in  // culprit key
        answer(continuation)
    }
    print("request")
}

@inline(never)
func heldKey() async throws {
    let hosts = AsyncSemaphore(capacity: 8, perKey: 1, name: "hosts")
    let queue = TaskOperationQueue(name: "requests", maxConcurrentOperationCount: 4)
    queue.addOperation(name: "one", .limit(hosts, key: "example.com")) { await stuckRequest() }
    let second = queue.addOperation(name: "two", .limit(hosts, key: "example.com")) { print("second") }
    try await second.value
}

@inline(never)
func awaitBarrier(_ barrier: TaskOperation<Void>) async {
    if isMended { return }
    try? await barrier.value  // culprit barrier
    print("barrier")
}

final class Holder: Sendable {
    let (stream, continuation) = AsyncStream.makeStream(of: TaskOperation<Void>.self)
}

@inline(never)
func barrierFromOutside() async throws {
    let queue = TaskOperationQueue(name: "files", maxConcurrentOperationCount: 4)
    let holder = Holder()
    queue.addOperation(name: "waits") {
        // The unstructured task is not the body, so the cycle is not refused.
        let helper = Task.detached {
            for await barrier in holder.stream { return await awaitBarrier(barrier) }
        }
        await helper.value
    }
    let barrier = queue.addBarrier { print("alone") }
    holder.continuation.yield(barrier)
    try await barrier.value
}

@inline(never)
func holdForever(_ semaphore: AsyncSemaphore) async {
    try? await semaphore.withPermit {
        await withCheckedContinuation { continuation in  // culprit detached
            answer(continuation)
        }
        print("held")
    }
}

@inline(never)
func detachedHolder() async throws {
    let semaphore = AsyncSemaphore(capacity: 1)
    Task.detached { await holdForever(semaphore) }
    while semaphore.available > 0, !isMended { await Task.yield() }
    let waiters = (0..<5).map { number in
        Task { try await semaphore.withPermit { print("waiter", number) } }
    }
    for waiter in waiters { try await waiter.value }
}
