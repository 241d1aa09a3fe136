/// A source change that `--fix` makes automatically and that preserves behaviour.
struct Rewrite: Sendable {
    /// The patterns whose findings the rewrite replaces.
    let patterns: Set<String>
    /// The module that the new source needs.
    var need = Need.lock
    /// Returns the new source for a finding. Throws if any use has no exact counterpart.
    let change: @Sendable (Finding, FixContext) throws(Refusal) -> Change

    enum Need {
        /// The module of the lock that the project's systems have.
        case lock
        case bridge
        case nothing
    }

    struct Change {
        var edits: [Edit]
        /// The name whose uses in other files would have to change too; nil if other files cannot see it.
        var visibleName: Word?
    }

    static let all: [Rewrite] = [.lock, .semaphore, .serialQueue, .operationQueue, .isolation]
}

/// The reason for leaving a finding unchanged.
struct Refusal: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The facts that a rewrite uses.
struct FixContext {
    let matcher: FileMatcher
    let codeBase: CodeBaseFacts
    /// Whether the compiler refuses results of `Mutex.withLock` that are not `Sendable`.
    let needsSendableResults: Bool
    /// The lock that takes the place of others.
    let lock: Platforms.LockType

    var file: SourceFile { matcher.file }
}

/// Facts that require all files.
struct CodeBaseFacts {
    /// The patterns that were found anywhere.
    var patterns: Set<String> = []
    /// Whether the code base has a `withLock` of its own that does more than lock, call and unlock.
    var hasUnusualWithLock = false
    /// Whether the code base has its own `withLock` with a discardable result.
    var hasDiscardableWithLock = false

    mutating func add(_ matcher: FileMatcher, _ findings: [Finding]) {
        patterns.formUnion(findings.lazy.map(\.pattern.id))
        addWithLocks(matcher.file)
    }

    mutating func addWithLocks(_ file: SourceFile) {
        for type in ["NSLock", "NSLocking"] {
            for place in file.typeScopes[file.vocabulary[type]] ?? [] { addWithLock(of: place, file) }
        }
    }

    /// The words of a `withLock` that only locks, calls and unlocks, except the name of its parameter.
    private static let usualWords: Set<String> = ["self", "lock", "unlock", "defer", "return", "try"]

    private mutating func addWithLock(of place: Int, _ file: SourceFile) {
        for scope in file.outline.scopes
        where scope.parent == place && scope.kind == .function && file.vocabulary[scope.name] == "withLock" {
            let parameter = (scope.head..<scope.open).first { file[$0] == .colon }.map { file.word($0 - 1) }
            hasUnusualWithLock =
                hasUnusualWithLock
                || (scope.open..<scope.close).contains { index in
                    file.isWord(index) && file.word(index) != parameter
                        && !Self.usualWords.contains(file.text(index))
                }
            hasDiscardableWithLock =
                hasDiscardableWithLock
                || (max(0, scope.head - 8)..<scope.head).contains { file.text($0) == "discardableResult" }
        }
    }
}

/// A replacement text for a range of bytes.
struct Edit: Equatable {
    let range: Range<Int>
    let text: String
}

extension [Edit] {
    /// The bytes with all edits applied. The edits must not overlap. Insertions at the same position keep their order.
    func applied(to bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var end = 0
        let ordered = enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, edit) in ordered {
            precondition(edit.range.lowerBound >= end, "edits overlap")
            result += bytes[end..<edit.range.lowerBound]
            result += Array<UInt8>(edit.text.utf8)
            end = edit.range.upperBound
        }
        return result + bytes[end...]
    }
}
