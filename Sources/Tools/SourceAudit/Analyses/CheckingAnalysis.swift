extension FileMatcher {
    /// Adds the findings of strict checking for a type.
    ///
    /// - Parameter called: The stored closures that each type calls on a queue.
    mutating func addChecking(_ type: TypeDeclaration, _ facts: ClassFacts, _ called: [Word: Set<Word>]) {
        guard type.kind == .class, !isChecked, !codeBase.isIsolated(type.name) else { return }
        if type.isOpen, let variable = facts.variables.first(where: isStateOfObject),
            !facts.variables.contains(where: isOutlet), !isTestCase(type.name)
        {
            add("checking-open-class", variable, .likely)
        }
        let isOperation = codeBase.systemType(type.name)?.isKind(of: .operation) == true
        for index in facts.storedClosures where called[type.name]?.contains(file.word(index)) == true {
            if !isSendable(type) { add("checking-closure", index, .likely) }
        }
        if isOperation { addResults(facts) }
    }

    /// The stored closures that each type calls in a block of a queue other than the main one, or in the body of an
    /// operation.
    func closuresCalledOnQueues(_ facts: [Int: ClassFacts]) -> [Word: Set<Word>] {
        let stored = Set(facts.values.lazy.flatMap(\.storedClosures).map { file.word($0) })
        let bodies: Set<String> = ["main", "start", "execute"]
        var names: [Word: Set<Word>] = [:]
        for index in file.tokens.indices where stored.contains(file.word(index)) && file.isWord(index) {
            let isOptional = file[index + 1] == .question || file[index + 1] == .exclamation
            guard file[isOptional ? index + 2 : index + 1] == .openParen, file[index - 1] != .func else { continue }
            if isInBlockOfOwnQueue(index) || isInOperation(index) && bodies.contains(functionName(around: index)) {
                names[file.typeName(around: index), default: []].insert(file.word(index))
            }
        }
        return names
    }

    /// Whether a variable belongs to each object, not to the type.
    private func isStateOfObject(_ variable: Int) -> Bool {
        !file.hasModifier(.static, before: variable - 1) && !file.hasModifier(.class, before: variable - 1)
    }

    /// Whether a class contains tests. XCTest gives each test an object of its own.
    private func isTestCase(_ name: Word) -> Bool {
        codeBase.chain(from: name).contains { type in
            type.supers.first.map { file.vocabulary[$0.name].hasSuffix("TestCase") } ?? false
        }
    }

    /// Whether a variable is an outlet. Only classes of the user interface have outlets, and the main actor isolates them.
    private func isOutlet(_ variable: Int) -> Bool {
        file.attributes(before: variable - 1).contains("IBOutlet")
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

    /// Finds global and static variables, and code for which the compiler's checks are disabled.
    mutating func analyzeChecking() {
        guard file.language == .swift else { return }
        for index in file.tokens.indices where file.isWord(index) {
            if file[index] == .unchecked, file[index - 1] == .at { add("checking-unchecked", index, .certain) }
            if file[index] == .nonisolated, file[index + 1] == .openParen, file[index + 2] == .unsafe {
                add("checking-unsafe", index, .certain)
            }
        }
        // The variables of a script and of a playground are isolated to the main actor.
        let isScript =
            file.path.hasSuffix("main.swift") || file.path.contains(".playground/")
            || file.bytes.starts(with: "#!".utf8) || file.hasStatements
            || file.path.split(separator: "/").last.map { $0.hasPrefix("Package") && file.isManifest } == true
        guard !isChecked, !isScript else { return }
        for variable in declarations.variables where variable.isVariable && variable.index > 0 {
            let scope = file.outline.scopes[variable.scope]
            let keyword = variable.index - 1
            guard scope.kind == .type || scope.kind == .file, file.scope(withHead: keyword) == nil,
                file[keyword] == .var, !isGuarded(keyword, scope)
            else { continue }
            if scope.kind == .type, file.hasModifier(.static, before: keyword) {
                add("checking-static", variable.index, .likely)
            } else if scope.kind == .file, file.outline.scope(of: variable.index) == 0 {
                add("checking-global", variable.index, .likely)
            }
        }
    }

    /// Whether a variable is isolated, declared safe, or not stored, because a property wrapper or a macro creates it.
    private func isGuarded(_ keyword: Int, _ scope: Scope) -> Bool {
        if scope.kind == .type, file.isIsolated(scope.head) || codeBase.isIsolated(scope.name) { return true }
        return file.attributes(before: keyword).contains { !Self.plainAttributes.contains($0) }
    }

    /// Attributes that do not change where a variable is stored.
    private static let plainAttributes: Set = [
        "objc", "available", "usableFromInline", "inlinable", "discardableResult", "preconcurrency", "nonobjc",
    ]
}

extension SourceFile {
    /// Whether statements such as `for` are at the top of the file, as only scripts have them.
    var hasStatements: Bool {
        outline.scopes.contains { $0.kind == .block && $0.parent == 0 && isFirstOnLine($0.head) }
    }

    /// Whether the file is the manifest of a package, whose variables are those of a script.
    var isManifest: Bool { tokens.indices.contains { text($0) == "PackageDescription" && self[$0 - 1] == .import } }

    /// The attributes of a declaration, and `nonisolated(unsafe)` as one.
    func attributes(before index: Int) -> [String] {
        var result: [String] = []
        var position = index - 1
        while position >= 0, index - position < 40 {
            switch self[position] {
            case .closeParen: position = min(position, partner(position)) - 1
            case .nonisolated:
                result.append(text(position))
                position -= 1
            case .public, .open, .final, .static, .private, .internal, .fileprivate, .override, .lazy, .weak, .unowned,
                .class, .dynamic, .required, .convenience:
                position -= 1
            default:
                guard isWord(position), self[position - 1] == .at else { return result }
                result.append(text(position))
                position -= 2
            }
        }
        return result
    }
}
