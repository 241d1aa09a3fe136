import Foundation
import MigrationExamplesSupport

/// Runs and measures one side of a recipe.
struct SideRun {
    let input: RecipeInput
    let progress: Progress

    /// Runs a legacy side on its own thread, which the side blocks.
    func legacy(_ side: @escaping Recipe.LegacySide) async -> SideReport {
        await measure {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(with: Result { try side(input) }) }
                }
            } onCancel: {
                input.cancellation.cancel()
            }
        }
    }

    /// Runs a ported side in the current task.
    func ported(_ side: Recipe.PortedSide) async -> SideReport {
        await measure { try await side(input) }
    }

    private func measure(_ work: () async throws -> RecipeResult) async -> SideReport {
        let meter = ThreadMeter()
        let ticker = Ticker(every: .milliseconds(5)) {
            meter.sample()
            progress.draw()
        }
        let start = ContinuousClock.now
        let outcome: Result<RecipeResult, any Error>
        do {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        let time = ContinuousClock.now - start
        ticker.stop()
        return SideReport(outcome: outcome, seconds: time / .seconds(1), threads: meter.most())
    }
}
