/// The types of a code base that have the names of system types, but are nested in other types.
///
/// `TaskQueue.Operation` is no operation of Foundation. Its tokens, with and without the qualification, get the word
/// `TaskQueue.Operation`, so that no lookup by name confuses the two.
struct OwnNames {
    /// The system types' names that each type declares again.
    private(set) var nested: [Word: Set<Word>] = [:]

    /// The modules that contain the system types. Any other qualification means another type.
    private static let modules: Set<String> = [
        "Foundation", "Dispatch", "DispatchKit", "Swift", "UIKit", "AppKit", "Cocoa",
    ]

    mutating func formUnion(_ other: OwnNames) { nested.merge(other.nested) { $0.union($1) } }

    /// Adds the nested types of a file, and replaces the words of all tokens that denote an own type. Returns whether
    /// there are such tokens.
    mutating func rename(
        _ tokens: inout [Token], _ outline: Outline, _ language: Lexer.Language, _ words: Vocabulary
    ) -> Bool {
        for scope in outline.scopes where scope.parent > 0 && scope.kind == .type && words.isSystemType(scope.name) {
            let outer = outline.scopes[scope.parent]
            guard outer.kind == .type, tokens[scope.head].term != .extension else { continue }
            nested[outer.name, default: []].insert(scope.name)
        }
        var isChanged = false
        for index in tokens.indices where words.isSystemType(tokens[index].word) && tokens[index].kind == .word {
            // In Objective-C, these are names of C++ or of the code base.
            let owner = language == .objectiveC ? words["C++"] : owner(index, tokens, outline, words)
            guard let owner else { continue }
            let word = words["\(words[owner]).\(words[tokens[index].word])"]
            tokens[index] = Token(.word, start: Int(tokens[index].start), word: word)
            isChanged = true
        }
        return isChanged
    }

    /// The type whose nested type a name denotes; nil if the name denotes the system type.
    private func owner(_ index: Int, _ tokens: [Token], _ outline: Outline, _ words: Vocabulary) -> Word? {
        let name = tokens[index].word
        if index > 1, tokens[index - 1].term == .dot {
            let qualifier = words[tokens[index - 2].word]
            return Self.modules.contains(qualifier) || qualifier.first?.isUppercase != true
                ? nil : tokens[index - 2].word
        }
        return outline.scopes(around: index).lazy.map { outline.scopes[$0] }.first { scope in
            scope.kind == .type && nested[scope.name]?.contains(name) == true
        }?.name
    }
}
