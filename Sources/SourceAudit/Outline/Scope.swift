/// The contents of a pair of braces, or of an Objective-C declaration.
struct Scope {
    enum Kind {
        case file
        /// The body of a type or an extension.
        case type
        /// The body of a function, an accessor or an initialiser.
        case function
        case closure
        /// `if`, `for`, `do` and so on.
        case block
        /// The block of a `defer`.
        case deferred
    }

    let kind: Kind
    /// The name of a type or function.
    let name: Word
    /// The scope around it.
    let parent: Int
    /// The first token of its declaration, and its opening brace.
    let head: Int
    let open: Int
    /// Its closing brace.
    var close: Int
}
