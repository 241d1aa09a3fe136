import TaskOperationsTesting

/// Opens a gate when it is freed, so that a test can wait for the release.
final class Witness: Sendable {
    private let freed: Gate

    init(_ freed: Gate) {
        self.freed = freed
    }

    deinit { freed.open() }
}
