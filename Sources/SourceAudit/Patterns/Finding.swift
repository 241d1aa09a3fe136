/// A place where a pattern was found.
public struct Finding: Sendable {
    /// How sure it is.
    public enum Certainty: String, Sendable {
        /// The compiler's index says so, or the names have one reading only.
        case certain
        /// By a name, or by how places fit together.
        case likely
    }

    public internal(set) var pattern: Pattern
    /// The path as it was reached from the paths that were given.
    public let path: String
    /// From 1, the column in bytes.
    public let line: Int
    public let column: Int
    public var certainty: Certainty
    /// The condition of `#if` around it, empty if there is none.
    public let condition: String
    /// Its line, without the blanks around it.
    public let source: String
    /// The type or function that it is in, empty at the top of a file.
    public let context: String
    /// The reason that a comment gives for leaving it, nil if there is none.
    public var allowance: String?
    /// The number of its file, and its token there.
    let file: Int
    let token: Int
}
