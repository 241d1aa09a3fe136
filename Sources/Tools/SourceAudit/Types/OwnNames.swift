/// The types of a code base that have the names of system types.
///
/// `TaskQueue.Operation` is no operation of Foundation. Its tokens, with and without the qualification, get the word
/// `TaskQueue.Operation`, so that no lookup by name confuses the two. A type at the top of a file is qualified by its
/// module.
struct OwnNames {
    /// A type at the top of a file.
    private struct Top {
        let name: Word
        let file: Int
        let access: Access
    }

    private enum Access {
        case file, module, others
    }

    /// The system types' names that each type declares again.
    private(set) var nested: [Word: Set<Word>] = [:]
    private var tops: [Top] = []
    /// The modules of all files; nil until all types at the top of files are known.
    private var modules: Modules?

    /// The names with the modules of all files; nil if no type at the top of a file has the name of a system type. Files
    /// that were read before have to be read again.
    func located(in paths: [String]) -> OwnNames? {
        guard !tops.isEmpty, modules == nil else { return nil }
        var names = self
        names.modules = Modules(paths)
        return names
    }

    /// The modules that contain the system types. Any other qualification means another type.
    private static let modules: Set<String> = [
        "Foundation", "Dispatch", "DispatchKit", "Swift", "UIKit", "AppKit", "Cocoa",
    ]

    /// Adds the names of a file. Once the modules are known, all types at the top of files are, too.
    mutating func formUnion(_ other: OwnNames, file: Int) {
        nested.merge(other.nested) { $0.union($1) }
        if modules == nil { tops += other.tops.filter { $0.file == file } }
    }

    /// Adds the nested types of a file, and replaces the words of all tokens that denote an own type. Returns whether
    /// there are such tokens.
    mutating func rename(
        _ tokens: inout [Token], _ outline: Outline, _ language: Lexer.Language, _ words: Vocabulary, file: Int
    ) -> Bool {
        for scope in outline.scopes where scope.kind == .type && words.isSystemType(scope.name) {
            let outer = outline.scopes[scope.parent]
            guard tokens[scope.head].term != .extension else { continue }
            if outer.kind == .type, scope.parent > 0 { nested[outer.name, default: []].insert(scope.name) }
            if outer.kind == .file, language == .swift, modules == nil {
                tops.append(Top(name: scope.name, file: file, access: Self.access(scope.head, tokens)))
            }
        }
        let hidden = language == .swift ? hidden(in: file, tokens, words) : [:]
        var isChanged = false
        for index in tokens.indices where words.isSystemType(tokens[index].word) && tokens[index].kind == .word {
            // In Objective-C, these are names of C++ or of the code base.
            let owner = language == .objectiveC ? words["C++"] : owner(index, tokens, outline, words, hidden)
            guard let owner else { continue }
            let word = words["\(words[owner]).\(words[tokens[index].word])"]
            tokens[index] = Token(.word, start: Int(tokens[index].start), word: word)
            isChanged = true
        }
        return isChanged
    }

    /// The type whose nested type a name denotes; nil if the name denotes the system type.
    private func owner(
        _ index: Int, _ tokens: [Token], _ outline: Outline, _ words: Vocabulary, _ hidden: [Word: Word]
    ) -> Word? {
        let name = tokens[index].word
        if index > 1, tokens[index - 1].term == .dot {
            let qualifier = words[tokens[index - 2].word]
            return Self.modules.contains(qualifier) || qualifier.first?.isUppercase != true
                ? nil : tokens[index - 2].word
        }
        return outline.scopes(around: index).lazy.map { outline.scopes[$0] }.first { scope in
            scope.kind == .type && nested[scope.name]?.contains(name) == true
        }?.name ?? hidden[name]
    }

    // MARK: Types at the top of files

    private static func access(_ head: Int, _ tokens: [Token]) -> Access {
        var index = head - 1
        while index >= 0, head - index < 12, tokens[index].kind == .word || tokens[index].term == .at {
            switch tokens[index].term {
            case .private, .fileprivate: return .file
            case .public, .open: return .others
            case .func, .var, .let, .import, .return: return .module
            default: index -= 1
            }
        }
        return .module
    }

    /// The names of system types that own types hide in a file, with the module of each own type. A file that imports
    /// the module of such a type would not compile if the name meant the system type, too.
    private func hidden(in file: Int, _ tokens: [Token], _ words: Vocabulary) -> [Word: Word] {
        guard let modules, !tops.isEmpty else { return [:] }
        var imports: [String: Bool] = [:]
        for index in tokens.indices.dropFirst().dropLast() where tokens[index].term == .import {
            let isTestable = tokens[index - 1].kind == .word && words[tokens[index - 1].word] == "testable"
            imports[words[tokens[index + 1].word], default: false] = isTestable
        }
        if tokens.count > 1, tokens[0].term == .import { imports[words[tokens[1].word]] = false }
        var hidden: [Word: Word] = [:]
        for top in tops {
            let own = modules.names(of: top.file)
            let isVisible = !own.isDisjoint(with: modules.names(of: file))
            let isImported = own.contains { name in
                imports[name].map { isTestable in top.access == .others || isTestable } ?? false
            }
            guard top.file == file || top.access != .file && (isVisible || isImported) else { continue }
            hidden[top.name] = words[own.min() ?? Modules.unknown]
        }
        return hidden
    }
}
