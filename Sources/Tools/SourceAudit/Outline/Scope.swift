/// The contents of a pair of braces, or of an Objective-C declaration.
struct Scope {
    enum Kind {
        case file
        /// The body of a type or an extension.
        case type
        /// The body of a function, an accessor or an initialiser.
        case function
        case closure
        /// The block of a statement such as `if`, `for` or `do`.
        case block
        /// The block of a `defer`.
        case deferred
    }

    let kind: Kind
    /// The name of a type or function.
    let name: Word
    /// The index of the enclosing scope.
    let parent: Int
    /// The first token of the declaration. `open` is the opening brace.
    let head: Int
    let open: Int
    /// The closing brace.
    var close: Int
}
