import Foundation
import MigrationExamplesLegacy
import MigrationExamplesPorted
import MigrationExamplesSupport
import Testing

@Test func stressCancel() async throws {
    let env = ProcessInfo.processInfo.environment
    guard let path = env["STRESS_DIR"] else { return }
    let folder = try InputFolder(listing: path)
    let n = Int(env["STRESS_N"] ?? "1000")!
    let which = env["STRESS_SIDE"] ?? "legacy"
    let span = Double(env["STRESS_SPAN"] ?? "0.05")!
    let legacy: [@Sendable (RecipeInput) throws -> RecipeResult] = [Legacy.widthLimitedBatch, Legacy.dependencyGraph, Legacy.cancelledDownloads]
    let ported: [@Sendable (RecipeInput) async throws -> RecipeResult] = [Ported.widthLimitedBatch, Ported.dependencyGraph, Ported.cancelledDownloads]
    let only = Int(env["STRESS_ONLY"] ?? "-1")!
    var cancelled = 0, finished = 0
    for i in 0..<n {
        let r = only >= 0 ? only : i % 3
        let input = RecipeInput(folder)
        let delay = UInt32(Double.random(in: 0...span) * 1e6)
        do {
            if which == "legacy" {
                _ = try await withCheckedThrowingContinuation { (c: CheckedContinuation<RecipeResult, any Error>) in
                    Thread.detachNewThread { usleep(delay); input.cancellation.cancel() }
                    Thread.detachNewThread { c.resume(with: Result { try legacy[r](input) }) }
                }
            } else {
                let task = Task { try await ported[r](input) }
                Thread.detachNewThread { usleep(delay); task.cancel() }
                _ = try await task.value
            }
            finished += 1
        } catch is CancellationError { cancelled += 1 }
    }
    print(which, "cancelled", cancelled, "finished", finished)
}
