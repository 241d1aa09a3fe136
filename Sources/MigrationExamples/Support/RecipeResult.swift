/// The result of a side of a recipe.
public struct RecipeResult: Sendable {
    /// The result in one line. Both sides must produce equal lines, so a line must not depend on time or on the order
    /// of execution.
    public let text: String
    /// Files that could not be read. They are reported, and do not affect the other files.
    public let unreadable: [FileProblem]

    /// Makes a result from its text.
    public init(_ text: String, unreadable: [FileProblem] = []) {
        self.text = text
        self.unreadable = unreadable
    }

    /// Returns the result with further facts in its line.
    public func adding(_ facts: [String]) -> RecipeResult {
        RecipeResult(([text] + facts).joined(separator: ", "), unreadable: unreadable)
    }
}
