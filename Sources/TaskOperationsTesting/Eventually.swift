/// Lets others run until something holds. Returns false if it does not come in time: for a test that would hang
/// otherwise, and can free what hangs.
///
/// Looks again at every turn of the executor, then after a millisecond, and ever later up to 16 of them: loops that only
/// yield keep the threads of the pool from everybody else.
package func eventually(within limit: Duration = .seconds(300), _ condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    var looks = 0
    while await !condition() {
        if ContinuousClock.now > end { return false }
        looks += 1
        if looks < 50 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(min(looks - 49, 16))) }
    }
    return true
}

/// Gives everything else that is ready to run ample opportunity to do so. Only for showing that something does not
/// happen: what does happen is waited for.
package func letOthersRun() async {
    for _ in 0..<100 { await Task.yield() }
}
