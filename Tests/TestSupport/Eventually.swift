internal import CTaskOperations
package import Testing

/// Suspends until a condition holds. Returns false if the condition does not hold before the limit. Use it in tests
/// that would otherwise hang, and that can release the hanging tasks.
///
/// Checks the condition at each turn of the executor at first, then after a millisecond, and then after growing pauses
/// of up to 16 milliseconds. A loop that only yields would occupy the threads of the pool.
///
/// - Parameter limit: The default only ends tests that hang. On a busy machine, a task of low priority may wait for its
///   start for many minutes.
package func eventually(within limit: Duration = .seconds(1200), _ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    var looks = 0
    while await !condition() {
        if ContinuousClock.now > end { return false }
        looks += 1
        if looks < 50 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(min(looks - 49, 16))) }
    }
    return true
}

/// Suspends until every other task of the schedule waits. Use it to show that an event does not happen. To wait for an
/// event, use a gate or a recorder.
///
/// The test needs the trait `.schedules`: the virtual time moves only when no task is ready.
package func untilOthersWait(sourceLocation: SourceLocation = #_sourceLocation) async {
    #expect(taskOperationsRunNumber() != 0, "the test needs the trait .schedules", sourceLocation: sourceLocation)
    try? await Task.sleep(for: .nanoseconds(1))
}

/// Suspends until the task is cancelled. A loop that yields would not let the virtual time of a schedule move.
package func untilCancelled() async {
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
}

/// Lets other tasks run until a condition holds. Records an issue if it does not hold in time.
package func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(condition)
    #expect(hasCome, "the condition did not become true in time", sourceLocation: sourceLocation)
}
