/// The queues, locks and semaphores that files share. Files that share one change together: the port of one changes a
/// type that the other names.
struct SharedQueues {
    private typealias Key = CodeBase.MemberKey

    /// For each shared variable, by the type that declares it, the files that declare it and that use it.
    private var variables: [Key: Uses] = [:]
    /// For each parameter of such a type, by the function, the files that declare it and that pass a value to it.
    private var parameters: [Key: Uses] = [:]

    /// How often a variable is passed to a parameter, also by a file that has nothing to move.
    private var flows: [Flow: Int] = [:]

    private struct Flow: Hashable {
        let variable: Key
        let parameter: Key
    }

    private struct Uses {
        var homes: Set<Int> = []
        var users: [Int: Int] = [:]

        var home: Int? { homes.count == 1 ? homes.first : nil }
    }

    private static let types: Set<SystemType> = [
        .operationQueue, .dispatchQueue, .group, .semaphore, .lock, .recursiveLock, .condition, .conditionLock,
        .unfairLock,
    ]

    private static func isShared(_ type: TypeReference?, _ codeBase: CodeBase) -> Bool {
        type.flatMap { codeBase.systemType($0.name) }.map(types.contains) ?? false
    }

    /// Reads the declarations and the uses of a file.
    mutating func add(_ matcher: FileMatcher) {
        guard matcher.file.language == .swift else { return }
        readVariables(matcher)
        let names = matcher.codeBase.sharedNames(Self.types)
        let file = matcher.file
        for index in file.tokens.indices where file.isWord(index) {
            if names.variables.contains(file.word(index)) { readUse(matcher, index) }
            guard file[index + 1] == .openParen, names.functions.contains(file.word(index)) else { continue }
            if file[index - 1] == .func { readFunction(matcher, index, index + 1) } else { readCall(matcher, index) }
        }
        for scope in file.outline.scopes where file[scope.head] == .initializer && file[scope.head + 1] == .openParen {
            readFunction(matcher, scope.head, scope.head + 1)
        }
    }

    // MARK: Declarations

    private mutating func readVariables(_ matcher: FileMatcher) {
        let file = matcher.file
        for variable in matcher.declarations.variables {
            let scope = file.outline.scopes[variable.scope]
            guard scope.kind == .type || scope.kind == .file, variable.index > 0,
                Self.isShared(Typer.declaredType(of: variable, in: file), matcher.codeBase),
                !isPrivate(file, variable.index - 1)
            else { continue }
            let owner = scope.kind == .type ? scope.name : Vocabulary.none
            variables[Key(owner: owner, name: variable.name), default: Uses()].homes.insert(file.number)
        }
    }

    private func isPrivate(_ file: SourceFile, _ head: Int) -> Bool {
        file.hasModifier(.private, before: head) && !file.hasModifier(.set, before: head)
            || file.hasModifier(.fileprivate, before: head)
    }

    private mutating func readFunction(_ matcher: FileMatcher, _ name: Int, _ open: Int) {
        let file = matcher.file
        let isInitializer = file[name] == .initializer
        guard !isPrivate(file, isInitializer ? name : name - 1) else { return }
        let function = isInitializer ? file.typeName(around: name) : file.word(name)
        for label in arguments(file, open) {
            let colon = file[label + 1] == .colon ? label + 1 : label + 2
            guard file[colon] == .colon, Self.isShared(file.type(at: colon + 1)?.type, matcher.codeBase) else {
                continue
            }
            parameters[Key(owner: function, name: file.word(label)), default: Uses()].homes.insert(file.number)
        }
    }

    // MARK: Uses

    private mutating func readUse(_ matcher: FileMatcher, _ index: Int) {
        guard let key = variable(at: index, matcher) else { return }
        variables[key, default: Uses()].users[matcher.file.number, default: 0] += 1
    }

    /// The variable of the code base that a name denotes, with the type that declares it; nil for a local variable.
    private func variable(at index: Int, _ matcher: FileMatcher) -> Key? {
        let file = matcher.file
        let owner: Word
        switch file[index - 1] {
        case .let, .var, .func, .case: return nil
        case .dot where file[index - 2] == .selfValue: owner = file.typeName(around: index)
        case .dot:
            guard let type = matcher.typer.receiver(ofDot: index - 1)?.type.name else { return nil }
            owner = type
        default:
            guard file[index + 1] != .colon, matcher.declarations.local(file.word(index), at: index, in: file) == nil
            else { return nil }
            owner = file.typeName(around: index)
        }
        // A member may be inherited. A name without a type may be a global variable.
        let owners = [owner] + matcher.codeBase.chain(from: owner).map(\.name) + [Vocabulary.none]
        let name = file.word(index)
        let declaring = owners.first { matcher.codeBase.member(name, of: $0) != nil }
        return declaring.map { Key(owner: $0, name: name) }
    }

    private mutating func readCall(_ matcher: FileMatcher, _ name: Int) {
        let file = matcher.file
        for label in arguments(file, name + 1) where file[label + 1] == .colon {
            let value = label + 2
            // The system's own queues are no queues of a file.
            let isSystem =
                file[value] == .nil || file[value] == .dot
                || file[value + 1] == .dot && ["DispatchQueue", "OperationQueue"].contains(file.text(value))
            if isSystem { continue }
            let parameter = Key(owner: file.word(name), name: file.word(label))
            parameters[parameter, default: Uses()].users[file.number, default: 0] += 1
            // The last name of `a.b.queue`.
            var last = value
            while file[last + 1] == .dot, file.isWord(last + 2) { last += 2 }
            if let variable = variable(at: last, matcher) {
                flows[Flow(variable: variable, parameter: parameter), default: 0] += 1
            }
        }
    }

    /// The first tokens of the arguments in parentheses.
    private func arguments(_ file: SourceFile, _ open: Int) -> [Int] {
        var result: [Int] = []
        var index = open + 1
        let close = file.partner(open)
        while index < close {
            if file[index - 1] == .comma || index == open + 1 { result.append(index) }
            switch file[index] {
            case .openParen, .openSquare, .openBrace: index = max(file.partner(index), index) + 1
            default: index += 1
            }
        }
        return result
    }

    // MARK: Result

    /// The files that change together with each file, with the number of uses. A name that several files declare ties
    /// no files, because names do not show which is used.
    func ties(between changes: Set<Int>) -> [Int: [Int: Int]] {
        var ties: [Int: [Int: Int]] = [:]
        func tie(_ home: Int?, _ user: Int?, _ count: Int) {
            guard let home, let user, home != user, changes.contains(home), changes.contains(user) else { return }
            ties[home, default: [:]][user, default: 0] += count
            ties[user, default: [:]][home, default: 0] += count
        }
        for uses in Array(variables.values) + Array(parameters.values) {
            for (user, count) in uses.users { tie(uses.home, user, count) }
        }
        for (flow, count) in flows { tie(variables[flow.variable]?.home, parameters[flow.parameter]?.home, count) }
        return ties
    }
}
