/// The facts about the body of a class, from one pass over its file.
struct ClassFacts {
    var overrides: Set<Word> = []
    /// The tokens of the overridden members.
    var overrideTokens: [Word: Int] = [:]
    var announcesChanges = false
    var hasState = false
    var delegate: Int?
    var error: Int?
    var operationProperty: Int?
    /// The token at which `main` sets a property to nil.
    var release: Int?
    /// The token at which a `throw` follows `isCancelled`.
    var cancelledThrow: Int?
    var storedClosures: [Int] = []
    var variables: [Int] = []
}

extension FileMatcher {
    /// The facts of all types of the file, by the indices of their scopes.
    func classFacts() -> [Int: ClassFacts] {
        var facts: [Int: ClassFacts] = [:]
        var typeOfScope: [Int] = []
        for (place, scope) in file.outline.scopes.enumerated() {
            typeOfScope.append(scope.kind == .type ? place : scope.parent >= 0 ? typeOfScope[scope.parent] : 0)
        }
        for index in file.tokens.indices {
            guard let term = file[index] else { continue }
            let type = typeOfScope[file.outline.scope(of: index)]
            if type > 0 { note(term, index, &facts[type, default: ClassFacts()]) }
        }
        for variable in declarations.variables where file.outline.scopes[variable.scope].kind == .type {
            note(variable, &facts[variable.scope, default: ClassFacts()])
        }
        return facts
    }

    private func note(_ term: Term, _ index: Int, _ facts: inout ClassFacts) {
        switch term {
        case .override: noteOverride(index, &facts)
        case .willChangeValue, .didChangeValue: facts.announcesChanges = true
        case .enum: if file.text(index + 1).hasSuffix("State") { facts.hasState = true }
        case .minus where file.language == .objectiveC: noteMethod(index, &facts)
        case .nil:
            if file[index - 1] == .equal, file[index + 1] != .comma, functionName(around: index) == "main",
                file[index - 3] != .star,
                file[index - 3] != .let, file[index - 3] != .var
            {
                facts.release = facts.release ?? index - 2
            }
        case .isCancelled:
            if file[index + 1] == .openBrace, file[index + 2] == .throw { facts.cancelledThrow = index }
        default: break
        }
    }

    private func noteOverride(_ index: Int, _ facts: inout ClassFacts) {
        var name = index + 1
        while name < index + 8, file[name] != .func, file[name] != .var { name += 1 }
        guard name < index + 8, file.isWord(name + 1) else { return }
        facts.overrides.insert(file.word(name + 1))
        facts.overrideTokens[file.word(name + 1)] = name + 1
    }

    /// In Objective-C, a method with the same name overrides the inherited method.
    private func noteMethod(_ index: Int, _ facts: inout ClassFacts) {
        guard file[index + 1] == .openParen, case let name = file.partner(index + 1) + 1, file.isWord(name),
            file[name + 1] != .colon || file[name] == .addDependency || file[name] == .removeDependency
                || file.text(name).hasPrefix("set") || file[name] == .encodeWithCoder
        else { return }
        facts.overrides.insert(file.word(name))
        facts.overrideTokens[file.word(name)] = name
    }

    private func note(_ variable: Variable, _ facts: inout ClassFacts) {
        let name = file.text(variable.index)
        if variable.isVariable { facts.variables.append(variable.index) }
        if name == "delegate" { facts.delegate = variable.index }
        if name == "state" || name == "_state" { facts.hasState = true }
        switch variable.source {
        case .declared(let type):
            if type.name == Word(.errorType) { facts.error = variable.index }
            let system = codeBase.systemType(type.name)
            if system?.isKind(of: .operation) == true {
                facts.operationProperty = facts.operationProperty ?? variable.index
            }
        case .unknown:
            if file[variable.index + 1] == .colon, isFunctionType(variable.index + 2) {
                facts.storedClosures.append(variable.index)
            }
        default: break
        }
    }

    /// Whether the type at an index is a function type without `@Sendable`.
    private func isFunctionType(_ start: Int) -> Bool {
        var index = start
        while file[index] == .openParen {
            let close = file.partner(index)
            if file[close + 1] == .arrow || file[close + 1] == .throws || file[close + 1] == .async { return true }
            index += 1
        }
        return false
    }

    /// The name of the function around a token.
    func functionName(around index: Int) -> String {
        file.outline.enclosing(.function, of: index).map { file.vocabulary[file.outline.scopes[$0].name] } ?? ""
    }
}
