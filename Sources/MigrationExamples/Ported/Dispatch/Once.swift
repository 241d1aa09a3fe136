public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Requests a value from many tasks. The value is computed once.
    public static func once(_ input: RecipeInput) async throws -> RecipeResult {
        // region: once
        let computations = Journal()
        let bytes = AsyncLazy {  // continues if all callers are cancelled
            computations.write("computed")
            return input.files.reduce(0) { $0 + $1.size }
        }
        try await concurrentPerform(over: 0..<8, width: 8) { _ in _ = try await bytes.value }
        let (careless, haveLooked) = (CarelessFolder(), AsyncGroup())
        for _ in 1...2 { haveLooked.enter() }
        await concurrentPerform(over: 1...2, width: 2) { _ in
            await careless.compute {
                haveLooked.leave()
                await haveLooked.wait()
            }
        }
        return RecipeResult(
            """
            \(try await bytes.value) bytes, computations: \(computations.lines.count), \
            by hand: \(await careless.computations)
            """)
        // endregion
    }
}

// region: once-race
/// An actor has the same fault if it awaits between the check and the store.
private actor CarelessFolder {
    private var isComputed = false
    private(set) var computations = 0

    func compute(meanwhile: @Sendable () async -> Void) async {
        if isComputed { return }
        await meanwhile()
        isComputed = true
        computations += 1
    }
}
// endregion
