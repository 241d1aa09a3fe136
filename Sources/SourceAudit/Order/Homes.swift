/// Which file declares a type, for saying who uses whom by names.
struct Homes {
    private var files: [Word: Int] = [:]

    init(_ codeBase: CodeBase) {
        for (name, declarations) in codeBase.types {
            // A name that two files declare tells nothing, and one that is private is nobody else's.
            let homes = Set(declarations.lazy.filter { $0.isDeclaration && !$0.isPrivate }.map(\.file))
            if homes.count == 1 { files[name] = homes.first! }
        }
    }

    /// The files that a file uses and how often, and for each of its types the others that it uses.
    func uses(of file: SourceFile) -> ([Int: Int], [String: Set<String>]) {
        var uses: [Int: Int] = [:]
        var types: [String: Set<String>] = [:]
        for index in file.tokens.indices where file.tokens[index].kind == .word {
            guard let home = files[file.tokens[index].word] else { continue }
            if file[index - 1] == .dot, !file.beginsUpper(index) { continue }
            if home != file.number {
                uses[home, default: 0] += 1
            } else {
                let owner = file.outermostType(around: index)
                if owner != Vocabulary.none, owner != file.word(index) {
                    types[file.vocabulary[owner], default: []].insert(file.text(index))
                }
            }
        }
        return (uses, types)
    }
}

extension SourceFile {
    /// The name of the outermost type around a token.
    func outermostType(around index: Int) -> Word {
        let scopes = outline.scopes(around: index)
        return scopes.last { outline.scopes[$0].kind == .type }.map { outline.scopes[$0].name } ?? Vocabulary.none
    }
}
