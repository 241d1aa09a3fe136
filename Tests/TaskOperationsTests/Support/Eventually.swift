import TaskOperationsTesting
import Testing

/// Lets others run until something holds. Gives up, and records that, after some minutes.
func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(condition)
    #expect(hasCome, "what was waited for did not come", sourceLocation: sourceLocation)
}

/// Gives everything else that is ready to run ample opportunity to do so. Only for showing that something does not
/// happen: what does happen is waited for.
func letOthersRun() async {
    for _ in 0..<100 { await Task.yield() }
}
