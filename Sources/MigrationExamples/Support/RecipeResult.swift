/// The result of a side of a recipe.
public struct RecipeResult: Sendable {
    /// The result in one line. Two sides agree where these are equal, so nothing in it may depend on time or order.
    public let text: String
    /// Files that could not be read. They are reported, and the others are done all the same.
    public let unreadable: [FileProblem]

    /// Makes a result from its text.
    public init(_ text: String, unreadable: [FileProblem] = []) {
        self.text = text
        self.unreadable = unreadable
    }

    /// The result with more in its line.
    public func adding(_ facts: [String]) -> RecipeResult {
        RecipeResult(([text] + facts).joined(separator: ", "), unreadable: unreadable)
    }
}
