/// Features of libraries that follow session 226 of WWDC 2015: operations with conditions, observers, groups and
/// retries.
extension FileMatcher {
    mutating func analyzeAdvanced() {
        let variables = Dictionary(grouping: declarations.variables, by: \.scope)
        for type in declarations.types where type.isDeclaration && type.kind != .protocol {
            let name = file.vocabulary[type.name]
            if inherits(type, "Condition") {
                add(condition(name), type.index, .likely)
            } else if inherits(type, "Observer"), !name.contains("Controller") {
                add(name.contains("Time") ? "advanced-timeout" : "advanced-observer", type.index, .likely)
            } else if name.contains("Exclusivity") || name.contains("MutualExclusion") {
                add("advanced-exclusion", type.index, .likely)
            } else if codeBase.systemType(type.name)?.isKind(of: .operation) == true {
                addAdvancedOperation(type, name, variables[type.scope] ?? [])
            }
        }
        for index in file.tokens.indices where file[index - 1] == .dot && file[index + 1] == .openParen {
            addAdvancedCall(index)
        }
    }

    /// Whether a type conforms to a protocol for observers or conditions of operations: a protocol that operations keep
    /// or receive, or whose name begins with an operation type, as `OperationObserver`. False if no operation of the
    /// code base keeps or receives such a protocol.
    private func inherits(_ type: TypeDeclaration, _ suffix: String) -> Bool {
        type.supers.contains { reference in
            let name = file.vocabulary[reference.name]
            guard name.hasSuffix(suffix), !codeBase.advancedProtocols.isEmpty else { return false }
            let stem = String(name.dropLast(suffix.count))
            return codeBase.advancedProtocols.contains(reference.name) || stem.hasSuffix("Operation")
                || codeBase.systemType(file.vocabulary[stem])?.isKind(of: .operation) == true
        }
    }

    private func condition(_ name: String) -> String {
        if name.contains("Exclusive") || name.contains("Exclusion") { return "advanced-exclusion" }
        let waits = ["Reachab", "Network", "Delay", "Wait", "Permission", "Authoriz"].contains { name.contains($0) }
        return waits ? "advanced-waiting-condition" : "advanced-condition"
    }

    /// An operation with its own queue is a group. An operation that counts attempts repeats its work.
    private mutating func addAdvancedOperation(_ type: TypeDeclaration, _ name: String, _ variables: [Variable]) {
        let hasQueue = variables.contains { variable in
            guard let found = Typer.declaredType(of: variable, in: file) else { return false }
            return codeBase.systemType(found.name)?.isKind(of: .operationQueue) == true
        }
        if hasQueue { add("advanced-group", type.index, .likely) }
        let tries = variables.contains { variable in
            let text = file.text(variable.index).lowercased()
            return text.contains("attempt") || text.contains("retries") || text.contains("retrycount")
        }
        if tries || name.contains("Retry") { add("advanced-retry", type.index, .likely) }
    }

    private mutating func addAdvancedCall(_ index: Int) {
        switch file.text(index) {
        case "produceOperation", "produceOperations": add("advanced-produced", index, .likely)
        case "produce":
            if arguments(index).contains(where: { codeBase.systemType(file.word($0))?.isKind(of: .operation) == true })
            {
                add("advanced-produced", index, .likely)
            }
        case "cancelWithError", "cancelWithErrors": add("advanced-cancel-reason", index, .likely)
        case "cancel":
            let reasons: Set<String> = ["with", "withError", "withErrors", "error"]
            guard let label = labels(index).first(where: { reasons.contains(file.text($0)) }) else { return }
            let receiver = typer.receiver(ofDot: index - 1)
            // If names do not show the type of the receiver, a function of the code base with this label shows it.
            let isReason =
                receiver == nil && codeBase.parameter(file.word(label), of: file.word(index))?.name == Word(.errorType)
            if isReason || typer.systemType(receiver)?.isKind(of: .operation) == true {
                add("advanced-cancel-reason", index, .likely)
            }
        default: break
        }
    }
}
