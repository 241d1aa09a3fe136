extension FileMatcher {
    /// What strict checking will ask of a type.
    mutating func addChecking(_ type: TypeDeclaration, _ facts: ClassFacts) {
        guard type.kind == .class else { return }
        if type.isOpen, let variable = facts.variables.first { add("checking-open-class", variable, .likely) }
        let isOperation = codeBase.systemType(type.name)?.isKind(of: .operation) == true
        let isQueued = isOperation || sites.contains { $0.type == .dispatchQueue && $0.identity.owner == type.name }
        if isQueued, !isSendable(type) {
            for index in facts.storedClosures { add("checking-closure", index, .likely) }
        }
        if isOperation { addResults(facts) }
    }

    private func isSendable(_ type: TypeDeclaration) -> Bool {
        type.supers.contains { $0.name == Word(.sendableType) } && file.hasModifier(.final, before: type.index - 1)
    }

    /// Variables of an operation whose type is a class of the code base that is not `Sendable`.
    private mutating func addResults(_ facts: ClassFacts) {
        let names: Set<String> = ["result", "output", "value", "response", "outcome"]
        for index in facts.variables where names.contains(file.text(index)) {
            guard let type = file.type(at: index + 2)?.type,
                let declaration = codeBase.types[type.name]?.first(where: { $0.kind == .class }),
                !declaration.supers.contains(where: { $0.name == Word(.sendableType) })
            else { continue }
            add("checking-result", index, .likely)
        }
    }

    /// Variables that belong to nobody.
    mutating func analyzeChecking() {
        guard file.language == .swift else { return }
        for variable in declarations.variables where variable.isVariable && variable.index > 0 {
            let scope = file.outline.scopes[variable.scope]
            let keyword = variable.index - 1
            guard file.scope(withHead: keyword) == nil, !isGuarded(keyword, scope) else { continue }
            if scope.kind == .type, file.hasModifier(.static, before: keyword) {
                add("checking-static", variable.index, .likely)
            } else if scope.kind == .file, file.partnerIsTop(variable.index) {
                add("checking-global", variable.index, .likely)
            }
        }
    }

    /// Whether a variable is isolated, task-local, or said to be safe.
    private func isGuarded(_ keyword: Int, _ scope: Scope) -> Bool {
        let names: Set<String> = ["MainActor", "TaskLocal", "unsafe", "nonisolated"]
        let isMarked = (max(0, keyword - 8)..<keyword).contains { index in
            names.contains(file.text(index)) && file[index - 1] != .closeBrace
        }
        let isActor = scope.kind == .type && (max(0, scope.head - 6)..<scope.head).contains { file[$0] == .globalActor }
        return isMarked || isActor
    }
}

extension SourceFile {
    /// Whether a token of the file's own scope is in no parentheses of a declaration.
    func partnerIsTop(_ index: Int) -> Bool {
        self[index - 1] == .var && outline.scope(of: index) == 0
    }
}
