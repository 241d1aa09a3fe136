import MigrationExamplesSupport
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The signal that tells a legacy side to stop", .inTurns)
struct CancellationSignalTests {
    @Test("Handlers are called once each, and at once where the signal was given before")
    func handlers() {
        let signal = CancellationSignal()
        let calls = Recorder<String>()
        signal.onCancel { calls.record("early") }
        #expect(!signal.isCancelled && calls.events.isEmpty)
        signal.cancel()
        signal.cancel()
        signal.onCancel { calls.record("late") }
        #expect(calls.events == ["early", "late"])
        #expect(throws: CancellationError.self) { try signal.check() }
    }
}
