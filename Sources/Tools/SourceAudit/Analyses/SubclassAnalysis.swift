extension FileMatcher {
    /// Finds classes that inherit from `Operation`, `OperationQueue` and `Thread`, distinguished by their overrides.
    mutating func analyzeSubclasses() {
        let facts = classFacts()
        for type in declarations.types where isWrittenHere(type) {
            guard let system = codeBase.systemType(type.name) else { continue }
            let facts = facts[type.scope] ?? ClassFacts()
            if system.isKind(of: .operation) { addOperation(type, facts) }
            if system.isKind(of: .operationQueue) { addQueue(type, facts) }
            if system == .thread { add("thread-subclass", type.index, certainty(type)) }
        }
        let called = closuresCalledOnQueues(facts)
        for type in declarations.types { addChecking(type, facts[type.scope] ?? ClassFacts(), called) }
    }

    /// Whether a class has its methods in its declaration. In Objective-C, the methods are in the `@implementation`.
    private func isWrittenHere(_ type: TypeDeclaration) -> Bool {
        switch type.kind {
        case .implementation: true
        case .class: !type.supers.isEmpty && !codeBase.hasImplementation(type.name)
        default: false
        }
    }

    private func certainty(_ type: TypeDeclaration) -> Finding.Certainty {
        codeBase.superclass(of: type.name).flatMap(codeBase.systemType) != nil ? .certain : .likely
    }

    private func isDerived(_ type: TypeDeclaration) -> Bool {
        guard var name = codeBase.superclass(of: type.name) else { return false }
        for _ in 0..<8 {
            guard let alias = codeBase.alias(name)?.name else { break }
            name = alias
        }
        return codeBase.types[name]?.contains { $0.kind == .class } ?? false
    }

    private func overrides(_ facts: ClassFacts, _ names: [Term]) -> Bool {
        names.contains { facts.overrides.contains(Word($0)) }
    }

    private mutating func addOperation(_ type: TypeDeclaration, _ facts: ClassFacts) {
        let sure = certainty(type)
        let hasStates = overrides(
            facts, [.start, .isExecuting, .isFinished, .isAsynchronous, .isConcurrent, .execution, .finished])
        if hasStates, facts.hasState {
            add("operation-state-machine", type.index, sure)
        } else if hasStates {
            add("operation-subclass-asynchronous", type.index, sure)
        } else if isDerived(type) {
            add("operation-subclass-derived", type.index, sure)
        } else {
            add("operation-subclass", type.index, sure)
        }
        if type.isGeneric { add("operation-subclass-generic", type.index, sure) }
        let archiving: Set<String> = ["NSCoding", "NSSecureCoding"]
        if type.supers.contains(where: { archiving.contains(file.vocabulary[$0.name]) })
            || overrides(facts, [.encodeWithCoder])
        {
            add("operation-archived", type.index, sure)
        }
        addOverrides(facts, sure)
        if let index = facts.delegate { add("operation-delegate", index, sure) }
        if let index = facts.error { add("operation-error-property", index, sure) }
        if let index = facts.operationProperty, readsResult(of: index, in: type) {
            add("operation-input-property", index, .likely)
        }
        if let index = facts.release { add("operation-releases", index, .likely) }
        if let index = facts.cancelledThrow { add("operation-throws-when-cancelled", index, .likely) }
    }

    /// Whether an operation uses a member of another operation that `Operation` itself does not declare.
    private func readsResult(of property: Int, in type: TypeDeclaration) -> Bool {
        let common: Set<Term> = [
            .cancel, .isCancelled, .start, .main, .isFinished, .isExecuting, .isReady, .addDependency, .dependencies,
            .completionBlock, .waitUntilFinished, .addObserver, .observe, .delegate, .operations, .addOperation,
        ]
        if file.hasModifier(.weak, before: property - 1) || file.hasModifier(.unowned, before: property - 1) {
            return false
        }
        let scope = file.outline.scopes[type.scope]
        return (scope.open..<min(scope.close, file.tokens.count)).contains { index in
            guard file.word(index) == file.word(property), file[index - 1] != .let, file[index - 1] != .var else {
                return false
            }
            var dot = index + 1
            while file[dot] == .question || file[dot] == .exclamation { dot += 1 }
            guard file[dot] == .dot, file.isWord(dot + 1), file[dot + 2] != .openParen, file[dot + 2] != .equal,
                !["name", "queuePriority", "qualityOfService"].contains(file.text(dot + 1))
            else { return false }
            return file[dot + 1].map { !common.contains($0) } ?? true
        }
    }

    private mutating func addOverrides(_ facts: ClassFacts, _ sure: Finding.Certainty) {
        let patterns: [(Term, String)] = [
            (.cancel, "operation-overrides-cancel"), (.isReady, "operation-overrides-ready"),
            (.completionBlock, "operation-overrides-completion"), (.isCancelled, "operation-overrides-cancelled"),
            (.addDependency, "operation-overrides-dependencies"),
            (.removeDependency, "operation-overrides-dependencies"),
        ]
        for (term, id) in patterns {
            if let index = facts.overrideTokens[Word(term)] { add(id, index, sure) }
        }
        for name in ["queuePriority", "qualityOfService"] {
            if let index = facts.overrideTokens[file.vocabulary[name]] {
                add("operation-overrides-priority", index, sure)
            }
        }
    }

    /// Adds a subclass of a queue, and each member that the subclass overrides.
    private mutating func addQueue(_ type: TypeDeclaration, _ facts: ClassFacts) {
        add("queue-subclass", type.index, certainty(type))
        for index in facts.overrideTokens.values.sorted() where file[index] != .initializer {
            add("queue-subclass", index, certainty(type))
        }
    }

    /// Finds `extension Operation: P`, and casts to subclasses.
    mutating func analyzeExtensionsAndCasts() {
        for type in declarations.types where type.kind == .extension {
            guard let system = codeBase.systemType(type.name), !codeBase.hides(type.name) else { continue }
            let isOwn = codeBase.types[type.name]?.contains { $0.kind == .class } ?? false
            guard system == .operation, !isOwn else { continue }
            add("operation-extension", isQualified(type.index + 2) ? type.index + 2 : type.index, .certain)
        }
        for index in file.tokens.indices where file[index] == .as {
            guard file[index + 1] == .question || file[index + 1] == .exclamation, let type = file.type(at: index + 2),
                codeBase.systemType(type.type.name)?.isKind(of: .operation) == true,
                // A cast to the base class is a use of the type.
                codeBase.systemTypes[type.type.name] != .operation
            else { continue }
            add("operation-cast", type.end - 1, .certain)
        }
        for index in file.tokens.indices { analyzeObserver(index) }
    }

    /// Finds `observe(\.isFinished)`, and `addObserver(_:forKeyPath:)` that names a state or observes an operation.
    private mutating func analyzeObserver(_ index: Int) {
        switch file[index] {
        case .observe, .addObserver: break
        default: return
        }
        let names: Set<String> = [
            "isFinished", "isExecuting", "operationCount", "finished", "executing",
        ]
        let arguments = arguments(index)
        let tells = arguments.contains { names.contains(file.text($0)) && (file[$0 - 1] == .dot || file.isString($0)) }
        // Key-value observing passes a key path; other methods have the same name.
        let isKeyed =
            labels(index).contains { file[$0] == .forKeyPath } || file[index + 2] == .backslash
            || file.language == .objectiveC && arguments.contains { file[$0] == .forKeyPath }
        guard isKeyed else { return }
        let owner = file[index - 1] == .dot ? typer.systemType(typer.receiver(ofDot: index - 1)) : nil
        let isOurs = owner?.isKind(of: .operation) == true || owner?.isKind(of: .operationQueue) == true
        guard file[index + 1] == .openParen || file[index + 1] == .colon, tells || isOurs else { return }
        add("operation-observed", index, isOurs ? .certain : .likely)
    }
}
