/// A place where a pattern was found.
public struct Finding: Sendable {
    /// The certainty of a finding.
    public enum Certainty: String, Sendable {
        /// The compiler's index identifies the symbol, or the names have only one reading.
        case certain
        /// A name or the relation between several places suggests the pattern.
        case likely
    }

    public internal(set) var pattern: Pattern
    /// The path of the file, beginning with the given path.
    public let path: String
    /// The line, from 1. `column` counts bytes, from 1.
    public let line: Int
    public let column: Int
    public var certainty: Certainty
    /// The condition of `#if` around the finding; empty if there is none.
    public let condition: String
    /// The line of the finding, without leading and trailing white space.
    public let source: String
    /// The type or function that contains the finding; empty at the top of a file.
    public internal(set) var context: String
    /// The reason for keeping the site, from a comment; nil if there is none.
    public var allowance: String?
    /// The estimated time in a report, in quarters of an hour; 0 if another finding has the time of its declaration.
    public internal(set) var weight = 0
    /// The number of the file. `token` is the index of the token in the file.
    let file: Int
    let token: Int
    /// The outermost type or extension that contains the finding or that it is the head of; nil at the top of a file.
    let declaration: Declaration?

    /// The declaration of a type, or an extension.
    struct Declaration: Hashable, Sendable {
        let name: String
        /// The lines from the keyword to the closing brace.
        let lines: ClosedRange<Int>
    }
}
