import TaskOperationsTesting

/// Opens a gate when it is freed, so that a test can wait for that.
final class Witness: Sendable {
    private let freed: Gate

    init(_ freed: Gate) {
        self.freed = freed
    }

    deinit { freed.open() }
}

/// Gives everything else that is ready to run ample opportunity to do so. Only for showing that something does not
/// happen: what does happen is waited for.
func letOthersRun() async {
    for _ in 0..<100 { await Task.yield() }
}
