import Testing

/// Lets others run until something holds. Gives up, and records that, after two minutes.
func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(within: .seconds(300), condition)
    #expect(hasCome, "what was waited for did not come", sourceLocation: sourceLocation)
}

/// Lets others run until something holds. Returns false where it does not come in time: for a test that would hang
/// otherwise, and can free what hangs.
func eventually(within limit: Duration = .seconds(300), _ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > end { return false }
        await Task.yield()
    }
    return true
}

/// Gives everything else that is ready to run ample opportunity to do so. Only for showing that something does not
/// happen: what does happen is waited for.
func letOthersRun() async {
    for _ in 0..<100 { await Task.yield() }
}
