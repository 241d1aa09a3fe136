package import MigrationExamplesSupport

/// The results of both sides of a recipe.
package struct Comparison: Sendable {
    package let recipe: String
    package let legacy: SideReport
    package let ported: SideReport

    /// Whether both sides ended with the same result.
    package var agree: Bool {
        guard case (.success(let legacy), .success(let ported)) = (legacy.outcome, ported.outcome) else {
            return false
        }
        return legacy.text == ported.text
    }
}

/// The result of one side of a recipe, and its cost.
package struct SideReport: Sendable {
    package let outcome: Result<RecipeResult, any Error>
    package let seconds: Double
    /// The maximum number of simultaneous threads; nil if the platform does not report it.
    package let threads: Int?

    /// The result in one line, or the error.
    package var text: String {
        switch outcome {
        case .success(let result): result.text
        case .failure(let error): "failed: \(error)"
        }
    }

    /// The files that could not be read.
    var unreadable: [FileProblem] { (try? outcome.get().unreadable) ?? [] }
}
