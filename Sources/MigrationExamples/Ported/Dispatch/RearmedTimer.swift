public import MigrationExamplesSupport

extension Ported {
    /// Saves once after many changes: each change restarts the timer.
    public static func rearmedTimer(_ input: RecipeInput) async throws -> RecipeResult {
        // region: rearmed-timer
        let (changes, saves) = (SharedCount(), Journal())
        let timer = OneShotTimer { saves.write("saved after \(changes.total) changes") }
        for _ in input.files {
            changes.add(1)
            await timer.schedule(after: .seconds(60))
        }
        await timer.schedule(after: .zero)  // the user saves
        await timer.finished()
        return saves.result
        // endregion
    }
}

// region: rearmed-timer-task
actor OneShotTimer {
    private let action: @Sendable () async -> Void
    private var task: Task<Void, any Error>?

    init(_ action: @escaping @Sendable () async -> Void) {
        self.action = action
    }

    /// Replaces the work that was scheduled before.
    func schedule(after delay: Duration) {
        task?.cancel()
        task = Task {
            try await Task.sleep(for: delay)
            try Task.checkCancellation()  // it may have come after the sleep, before this had its turn
            await action()
        }
    }

    func finished() async { _ = await task?.result }
}
// endregion
