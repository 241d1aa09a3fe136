/// The words that the audit refers to by name: keywords, marks and names of members. In every vocabulary they have the
/// first numbers, in this order.
enum Term: String, CaseIterable {
    // Marks.
    case openParen = "("
    case closeParen = ")"
    case openSquare = "["
    case closeSquare = "]"
    case openBrace = "{"
    case closeBrace = "}"
    case dot = "."
    case comma = ","
    case colon = ":"
    case semicolon = ";"
    case equal = "="
    case less = "<"
    case greater = ">"
    case question = "?"
    case exclamation = "!"
    case at = "@"
    case arrow = "->"
    case ampersand = "&"
    case and = "&&"
    case star = "*"
    case minus = "-"
    case plus = "+"
    case caret = "^"
    case equals = "=="
    case backslash = "\\"
    // Keywords of declarations.
    case `class`, `struct`, `enum`, actor, `extension`, `protocol`, `func`, `var`, `let`, `deinit`, `subscript`
    case `typealias`, `case`, `import`, `static`, open, override, `where`, `throws`, `rethrows`, async, lazy, weak
    case unowned, final, `private`, `public`, `internal`, `fileprivate`, mutating, nonisolated, convenience, required
    case unchecked, unsafe, preconcurrency, isolated, sending, consuming, borrowing, `inout`, any, escaping
    case `associatedtype`, `operator`, macro, indirect, dynamic, optional, get, set, willSet, didSet
    // Keywords of statements and expressions.
    case `if`, `else`, `for`, `while`, `repeat`, `do`, `catch`, `guard`, `switch`, `defer`, `return`, `in`, `is`, `as`
    case `try`, await, `super`, `nil`, `true`, `false`, `throw`, `default`, yield, each, `break`
    case underscore = "_"
    // Keywords whose names differ from the names of their cases.
    case initializer = "init"
    case selfValue = "self"
    case selfType = "Self"
    case someType = "some"
    // Directives.
    case ifDirective = "#if"
    case elseifDirective = "#elseif"
    case elseDirective = "#else"
    case endifDirective = "#endif"
    case ifdefDirective = "#ifdef"
    case ifndefDirective = "#ifndef"
    case elifDirective = "#elif"
    case defineDirective = "#define"
    case pragmaDirective = "#pragma"
    case errorDirective = "#error"
    case warningDirective = "#warning"
    case importDirective = "#import"
    case includeDirective = "#include"
    case selectorDirective = "#selector"
    // Objective-C.
    case interface, implementation, end, property, synchronized, autoreleasepool, alloc, new
    case const, nonnull, nullable, id
    case nullableMark = "_Nullable"
    case nonnullMark = "_Nonnull"
    case blockMark = "__block"
    case strongMark = "__strong"
    case weakMark = "__weak"
    // Containers, whose element types the audit reads.
    case array = "Array"
    case contiguousArray = "ContiguousArray"
    case setType = "Set"
    case optionalType = "Optional"
    case dictionary = "Dictionary"
    case foundation = "Foundation"
    case dispatch = "Dispatch"
    case taskOperations = "TaskOperations"
    case taskOperationsBridge = "TaskOperationsBridge"
    case withTaskOperationQueue
    // Methods whose closure receives the elements.
    case forEach, map, compactMap, flatMap, filter, allSatisfy, contains, first, reduce, last, values, enumerated
    case sorted, prefix, suffix, dropFirst, dropLast, reversed
    // Members for which analyses search.
    case wait, signal, lock, unlock, withLock, sync, main, global, current, shared, addOperation, addOperations
    case addDependency, removeDependency, cancel, isCancelled, start, isExecuting, isFinished, isReady
    case isAsynchronous, isConcurrent, encodeWithCoder
    case willChangeValue, didChangeValue, completionBlock, dependencies, notify, barrier, label, value, target
    case deadline, repeats, invalidate, `enter`, leave
    case maxConcurrentOperationCount, waitUntilFinished, operations, delegate, run, taskQueue, asyncAfter, execute
    case concurrent, flags, group, qos, error, errorType = "Error", sendableType = "Sendable"
    case globalActor = "MainActor"
    case delay, body, stride
    case execution = "executing"
    case finished, resume, suspend, signalAll = "broadcast", handler = "completion", addObserver, observe, forKeyPath
    case keyPath = "forKey"
}

extension Term {
    private static let byNumber: [Term] = allCases
    private static let numbers = Dictionary(uniqueKeysWithValues: allCases.enumerated().map { ($1, UInt32($0 + 1)) })

    /// The number that a vocabulary gives the term.
    static func number(of term: Term) -> UInt32 { numbers[term]! }

    /// Creates the term that equals a word; nil if there is none.
    init?(_ word: Word) {
        guard word.number > 0, word.number <= Self.byNumber.count else { return nil }
        self = Self.byNumber[Int(word.number) - 1]
    }
}

extension Word {
    /// The word of a term in every vocabulary.
    init(_ term: Term) { self.init(number: Term.number(of: term)) }
}
