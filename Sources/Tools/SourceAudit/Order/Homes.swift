/// The files that declare types. They determine the uses between files by names.
struct Homes {
    private var files: [Word: Int] = [:]

    init(_ codeBase: CodeBase) {
        for (name, declarations) in codeBase.types {
            // A name that two files declare is ambiguous. Other files cannot use a private name.
            let homes = Set(declarations.lazy.filter { $0.isDeclaration && !$0.isPrivate }.map(\.file))
            if homes.count == 1 { files[name] = homes.first! }
        }
    }

    /// The types of other files that a file names, with their numbers. Also, for each type of the file, the other types
    /// of the file that it names.
    func uses(of file: SourceFile) -> ([Word: Int], [String: Set<String>]) {
        var uses: [Word: Int] = [:]
        var types: [String: Set<String>] = [:]
        for index in file.tokens.indices where file.tokens[index].kind == .word {
            guard let home = files[file.tokens[index].word] else { continue }
            if file[index - 1] == .dot, !file.beginsUpper(index) { continue }
            if home != file.number {
                uses[file.word(index), default: 0] += 1
            } else {
                let owner = file.outermostType(around: index)
                if owner != Vocabulary.none, owner != file.word(index) {
                    types[file.vocabulary[owner], default: []].insert(file.text(index))
                }
            }
        }
        return (uses, types)
    }

    /// The files that a file uses and whose interfaces change in a move, with the number of uses of their types.
    func edges(_ uses: [Word: Int], changing: [Int: Set<Word>]) -> [Int: Int] {
        var edges: [Int: Int] = [:]
        for (type, count) in uses {
            guard let home = files[type], changing[home]?.contains(type) == true else { continue }
            edges[home, default: 0] += count
        }
        return edges
    }
}

extension SourceFile {
    /// The name of the outermost type around a token.
    func outermostType(around index: Int) -> Word {
        let scopes = outline.scopes(around: index)
        return scopes.last { outline.scopes[$0].kind == .type }.map { outline.scopes[$0].name } ?? Vocabulary.none
    }
}
