extension Declarations {
    mutating func readObjectiveC(_ file: SourceFile) {
        for index in file.tokens.indices where file.tokens[index].kind == .word {
            switch file[index] {
            case .interface, .implementation:
                if file[index - 1] == .at { readInterface(file, index) }
            default: readVariable(file, index)
            }
        }
    }

    private mutating func readInterface(_ file: SourceFile, _ index: Int) {
        guard file.isWord(index + 1) else { return }
        let hasSuper = file[index + 2] == .colon && file.isWord(index + 3)
        let scope = file.scope(withHead: index - 1) ?? file.outline.scope(of: index + 2)
        types.append(
            TypeDeclaration(
                name: file.word(index + 1), kind: kind(file, index, hasSuper),
                supers: hasSuper ? [TypeReference(name: file.word(index + 3))] : [], file: file.number, scope: scope,
                index: index + 1, outer: Vocabulary.none, isOpen: false, isPrivate: false,
                isGeneric: false))
    }

    private func kind(_ file: SourceFile, _ index: Int, _ hasSuper: Bool) -> TypeDeclaration.Kind {
        if hasSuper { return .class }
        return file[index] == .implementation && file[index + 2] != .openParen ? .implementation : .extension
    }

    /// Reads `Type *name` and `Type name` at the beginning of a statement, in parameters and in properties.
    private mutating func readVariable(_ file: SourceFile, _ index: Int) {
        var name = index + 1
        if file[name] == .less { name = endOfProtocols(file, name) }
        var isType = false
        for _ in 0..<6 {
            switch file[name] {
            case .star: isType = true
            case .const, .nullableMark, .nonnullMark, .blockMark, .strongMark, .weakMark: break
            case .closeParen:
                // A parameter: `(Type *)name`.
                guard isType || file[index - 1] == .openParen else { return }
                isType = true
            default:
                let begins = startsDeclaration(file, index)
                guard file.isWord(name), isType || begins, name > index + 1 || begins else { return }
                let type = TypeReference(name: file.word(index))
                add(file.word(name), .declared(type), scope(ofVariable: name, in: file), name, isVariable: true)
                return
            }
            name += 1
        }
    }

    /// The scope of a variable. An instance variable, declared in the braces of a type, belongs to the type.
    private func scope(ofVariable name: Int, in file: SourceFile) -> Int {
        let scope = file.outline.scope(of: name)
        let (kind, parent) = (file.outline.scopes[scope].kind, file.outline.scopes[scope].parent)
        return kind == .closure && parent > 0 && file.outline.scopes[parent].kind == .type ? parent : scope
    }

    private func endOfProtocols(_ file: SourceFile, _ index: Int) -> Int {
        var position = index
        while position < index + 12, file[position] != .greater { position += 1 }
        return position + 1
    }

    /// Whether a declaration can begin at a token: `dispatch_queue_t queue;`.
    private func startsDeclaration(_ file: SourceFile, _ index: Int) -> Bool {
        switch file[index - 1] {
        case .semicolon, .openBrace, .closeBrace, .closeParen, .static, .const, .blockMark, .strongMark, .weakMark,
            .openParen, .comma:
            guard file.isWord(index + 1) else { return false }
            switch file[index + 2] {
            case .semicolon, .equal, .closeParen, .comma: return true
            default: return false
            }
        default: return false
        }
    }
}
