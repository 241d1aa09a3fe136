extension FileMatcher {
    /// Determines purposes from the surrounding code.
    mutating func analyzeRoles() {
        addLastOperations()
        addConditions()
        addCallbacks()
    }

    /// Finds operations that represent the end of other operations. Such an operation is of no subclass, and has
    /// dependencies and no dependents. It also is awaited, has a completion block, or depends on each operation of a
    /// list.
    private mutating func addLastOperations() {
        var dependents: [Identity: Int] = [:]
        var dependencies: Set<Identity> = []
        var ends: Set<Identity> = []
        for finding in findings {
            switch finding.pattern.id {
            case "operation-dependency" where file[finding.token] == .addDependency:
                guard let from = identity(ofMember: finding.token),
                    let type = typer.receiver(ofDot: finding.token - 1)?.type.name, codeBase.systemTypes[type] != nil
                else { continue }
                if dependents[from] == nil { dependents[from] = finding.token }
                if file.isWord(finding.token + 2), let to = identity(ofVariable: finding.token + 2) {
                    dependencies.insert(to)
                    if isElementOfLoop(finding.token + 2), !isElementOfLoop(finding.token - 2) { ends.insert(from) }
                }
            case "operation-wait", "operation-completion":
                if let waited = identity(ofMember: finding.token) { ends.insert(waited) }
            default: break
            }
        }
        for (operation, token) in dependents where ends.contains(operation) && !dependencies.contains(operation) {
            add("operation-last", token, .likely)
        }
    }

    /// Whether a name denotes the element of a loop or the parameter of a closure.
    private func isElementOfLoop(_ index: Int) -> Bool {
        if file.text(index) == "$0" { return true }
        guard let variable = declarations.local(file.word(index), at: index, in: file) else { return false }
        if case .element = variable.source { return true }
        return false
    }

    /// Finds variables of operations whose names say that they are conditions.
    private mutating func addConditions() {
        for variable in declarations.variables where file.outline.scopes[variable.scope].kind == .type {
            guard codeBase.systemType(file.outline.scopes[variable.scope].name)?.isKind(of: .operation) == true,
                file.text(variable.index).lowercased().hasSuffix("conditions")
            else { continue }
            add("operation-conditions", variable.index, .likely)
        }
    }

    /// Finds functions that a type keeps in variables, and calls in a block of a queue.
    private mutating func addCallbacks() {
        var stored: [Word: Set<Word>] = [:]
        for variable in declarations.variables where file.outline.scopes[variable.scope].kind == .type {
            guard variable.isVariable, file[variable.index + 1] == .colon,
                file.isFunctionType(variable.index + 2) || file.isListOfFunctions(variable.index + 2)
            else { continue }
            stored[file.outline.scopes[variable.scope].name, default: []].insert(variable.name)
        }
        guard !stored.isEmpty else { return }
        for index in file.tokens.indices where file.isWord(index) && file[index - 1] != .func {
            let open = file[index + 1] == .question || file[index + 1] == .exclamation ? index + 2 : index + 1
            guard file[open] == .openParen, file[index - 1] != .dot || file[index - 2] == .selfValue,
                stored[file.typeName(around: index)]?.contains(file.word(index)) == true, isInBlockOfOwnQueue(index)
            else { continue }
            add("dispatch-callback", index, .likely)
        }
    }

    /// Whether a queue other than the main one executes the innermost block around a token that is executed later.
    func isInBlockOfOwnQueue(_ index: Int) -> Bool {
        let method = methodsAround(index).first { method in
            switch file[method] {
            case .async, .asyncAfter, .addOperation: file[method - 1] == .dot
            default: file.text(method) == "Task"
            }
        }
        return method.map { file[$0 - 1] == .dot && file[$0 - 2] != .main } ?? false
    }
}

extension SourceFile {
    /// Whether the type at an index is a function type, optional or not.
    func isFunctionType(_ start: Int) -> Bool {
        var index = start
        while self[index] == .at { index += 2 }
        while self[index] == .openParen {
            let close = partner(index)
            if self[close + 1] == .arrow || self[close + 1] == .throws || self[close + 1] == .async { return true }
            index += 1
            while self[index] == .at { index += 2 }
        }
        return false
    }

    /// Whether the type at an index is an array of functions.
    func isListOfFunctions(_ start: Int) -> Bool { self[start] == .openSquare && isFunctionType(start + 1) }
}
