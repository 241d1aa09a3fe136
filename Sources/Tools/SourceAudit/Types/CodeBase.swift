/// The declarations of all files, to look types up by name.
final class CodeBase {
    struct MemberKey: Hashable {
        var owner: Word
        var name: Word
    }

    /// A fact that is known only if all declarations agree on it.
    private struct Agreed<Value: Equatable> {
        var value: Value?

        mutating func state(_ other: Value?) { if value != other { value = nil } }
    }

    let vocabulary: Vocabulary
    private(set) var types: [Word: [TypeDeclaration]] = [:]
    private var aliases: [Word: TypeReference] = [:]
    private var members: [MemberKey: Agreed<TypeReference>] = [:]
    private var results: [MemberKey: Agreed<TypeReference>] = [:]
    /// Variables by name alone, in any type or function.
    private var variables: [Word: Agreed<TypeReference>] = [:]
    private(set) var functions: Set<Word> = []
    private var functionOwners: [Word: Set<Word>] = [:]
    /// The types of parameters, by the label and the name of the function (for an initialiser, the name of its type).
    private var parameters: [MemberKey: Agreed<TypeReference>] = [:]
    /// The first associated values of enumeration cases, by the names of the cases.
    private var payloads: [Word: Agreed<TypeReference>] = [:]
    /// The functions of each type.
    private var methods: Set<MemberKey> = []
    private(set) var systemTypes: [Word: SystemType] = [:]
    private var known: [Word: SystemType?] = [:]
    private var isolated: [Word: Bool] = [:]
    private let systemMembers: [MemberKey: TypeReference]
    private(set) var ownNames: OwnNames
    /// The numbers of the files whose target isolates all code to the main actor by default.
    var isolatedFiles: Set<Int> = []

    init(_ vocabulary: Vocabulary, ownNames: OwnNames = OwnNames()) {
        (self.vocabulary, self.ownNames) = (vocabulary, ownNames)
        for type in SystemType.allCases { systemTypes[vocabulary[type.rawValue]] = type }
        for (name, type) in SystemType.otherNames { systemTypes[vocabulary[name]] = type }
        // A name qualified by its module is read as one word.
        for type in SystemType.allCases { systemTypes[vocabulary["Foundation." + type.rawValue]] = type }
        systemMembers = Dictionary(
            uniqueKeysWithValues: SystemType.members.map { owner, name, type, isCollection in
                let reference = TypeReference(name: vocabulary[type.rawValue], layers: isCollection ? 1 : 0)
                return (MemberKey(owner: vocabulary[owner.rawValue], name: vocabulary[name]), reference)
            })
    }

    func add(_ declarations: Declarations, of file: SourceFile) {
        ownNames.formUnion(file.ownNames, file: file.number)
        for type in declarations.types { types[type.name, default: []].append(type) }
        for (name, types) in declarations.aliases where aliases[name].map({ systemTypes[$0.name] == nil }) ?? true {
            aliases[name] = meant(types)
        }
        for function in declarations.functions {
            functions.insert(function.name)
            functionOwners[function.name, default: []].insert(function.owner)
            methods.insert(MemberKey(owner: function.owner, name: function.name))
            guard let result = function.result else { continue }
            results[MemberKey(owner: function.owner, name: function.name), default: Agreed(value: result)].state(result)
        }
        for (key, type) in declarations.parameters {
            parameters[key, default: Agreed(value: type)].state(type)
        }
        for (key, type) in declarations.computed { members[key, default: Agreed(value: type)].state(type) }
        for (name, type) in declarations.payloads { payloads[name, default: Agreed(value: type)].state(type) }
        for variable in declarations.variables {
            guard let type = Typer.declaredType(of: variable, in: file) else { continue }
            variables[variable.name, default: Agreed(value: type)].state(type)
            let scope = file.outline.scopes[variable.scope]
            guard scope.kind == .type || scope.kind == .file else { continue }
            let key = MemberKey(owner: scope.name, name: variable.name)
            members[key, default: Agreed(value: type)].state(type)
        }
    }

    /// Adds another package's class that inherits from a system type, unless the code base has a type of that name.
    func addForeign(_ name: String, _ type: SystemType) {
        let word = vocabulary[name]
        guard types[word] == nil, systemTypes[word] == nil else { return }
        systemTypes[word] = type
        known = [:]
    }

    /// The type of a stored or computed member of a type of the code base, or of a global variable.
    func member(_ name: Word, of owner: Word) -> TypeReference? { members[MemberKey(owner: owner, name: name)]?.value }

    /// The type of a parameter of a function of the code base.
    func parameter(_ label: Word, of function: Word) -> TypeReference? {
        parameters[MemberKey(owner: function, name: label)]?.value
    }

    private var shared: (variables: WordTable, functions: WordTable)?

    /// The names of members of some types, and of functions that have parameters of these types.
    func sharedNames(_ types: Set<SystemType>) -> (variables: WordTable, functions: WordTable) {
        if let shared { return shared }
        func fits(_ type: TypeReference?) -> Bool { type.flatMap { systemType($0.name) }.map(types.contains) ?? false }
        let names = (
            WordTable(members.lazy.filter { fits($0.value.value) }.map(\.key.name)),
            WordTable(parameters.lazy.filter { fits($0.value.value) }.map(\.key.owner))
        )
        shared = names
        return names
    }

    /// The names of functions and variables that extensions add to system types.
    private(set) lazy var namesInExtensions = WordTable(
        methods.union(members.keys).filter { systemTypes[$0.owner] != nil }.map(\.name))

    func payload(of name: Word) -> TypeReference? { payloads[name]?.value }

    /// Whether a type of the code base, or an extension of another, declares a function or variable.
    func declares(_ name: Word, in owner: Word) -> Bool {
        let key = MemberKey(owner: owner, name: name)
        return methods.contains(key) || members[key] != nil
    }

    /// Whether a protocol of the code base declares a function or variable, and the code base conforms a system type to
    /// that protocol.
    func declaresInProtocol(_ name: Word, of type: SystemType) -> Bool {
        (types[vocabulary[type.rawValue]] ?? []).contains { declaration in
            declaration.supers.contains { declares(name, in: $0.name) }
        }
    }

    /// The system type that a type of the code base hides by its name, if the modules of files are not known.
    func hiddenSystemType(_ name: Word) -> SystemType? {
        guard hides(name) else { return nil }
        let text = vocabulary[name]
        let prefix = Modules.unknown + "."
        return text.hasPrefix(prefix)
            ? systemTypes[vocabulary[String(text.dropFirst(prefix.count))]] : systemTypes[name]
    }

    func result(of name: Word, in owner: Word) -> TypeReference? {
        results[MemberKey(owner: owner, name: name)]?.value
    }

    func systemMember(_ name: Word, of type: SystemType) -> TypeReference? {
        var type: SystemType? = type
        while let current = type {
            if let member = systemMembers[MemberKey(owner: vocabulary[current.rawValue], name: name)] { return member }
            type = current.parent
        }
        return nil
    }

    /// The type of all variables of a name in the code base; nil if their types differ.
    func anyVariable(_ name: Word) -> TypeReference? { variables[name]?.value }

    /// Whether the code base declares a type of that name at the top of a file, which hides the system type.
    func hides(_ name: Word) -> Bool {
        types[name]?.contains { $0.isDeclaration && $0.outer == Vocabulary.none } ?? false
    }

    /// The system type of a type name: the type itself, the target of an alias, or an ancestor of a class.
    func systemType(_ name: Word) -> SystemType? {
        if let known = known[name] { return known }
        known[name] = .some(nil)  // a cycle of classes or aliases does not lead to a system type
        let result = findSystemType(name)
        known[name] = .some(result)
        return result
    }

    private func findSystemType(_ name: Word) -> SystemType? {
        var name = name
        // No chain is longer in practice. The bound prevents an endless search.
        for _ in 0..<64 {
            if let type = systemTypes[name], !hides(name) { return type }
            // An alias in one file does not change the meaning of a type of the same name in other files.
            if let alias = alias(name), alias.layers == 0, alias.name != name {
                name = alias.name
            } else if let parent = superclass(of: name), parent != name {
                name = parent
            } else {
                return nil
            }
        }
        return nil
    }

    /// The observer and condition protocols that operations of the code base keep or receive.
    private(set) lazy var advancedProtocols: Set<Word> = {
        let names = ["observers", "conditions", "addObserver", "addCondition"].map { vocabulary[$0] }
        let keys = methods.union(members.keys).filter { key in
            names.contains(key.name) && systemType(key.owner)?.isKind(of: .operation) == true
        }
        return Set(
            keys.compactMap { key in
                member(key.name, of: key.owner)?.name ?? parameter(Word(.underscore), of: key.name)?.name
            })
    }()

    /// Whether a type is isolated to a global actor, by itself or by inheritance.
    func isIsolated(_ name: Word) -> Bool {
        if let known = isolated[name] { return known }
        isolated[name] = false  // a cycle of types is not isolated
        let declarations = (types[name] ?? []).filter(\.isDeclaration)
        let result =
            declarations.contains { $0.isIsolated || $0.supers.contains { isIsolated($0.name) } }
            || declarations.isEmpty && MainActorTypes.contains(vocabulary[name])
        isolated[name] = result
        return result
    }

    func isProtocol(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .protocol } ?? false }

    /// Whether the declaration of a type opts out of its target's default isolation.
    func isNonisolated(_ name: Word) -> Bool {
        types[name]?.contains { $0.isDeclaration && $0.isNonisolated } ?? false
    }

    func isActor(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .actor } ?? false }

    /// The types that have a function of a name; the empty word for a global function.
    func owners(of function: Word) -> Set<Word> { functionOwners[function] ?? [] }

    func declaresClass(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .class } ?? false }

    /// Whether the methods of a class are in a separate implementation.
    func hasImplementation(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .implementation } ?? false }

    /// The superclass of a class of the code base, from its inheritance list.
    func superclass(of name: Word) -> Word? {
        if let parent = types[name]?.lazy.filter({ $0.kind == .class }).compactMap(\.supers.first?.name).first {
            return parent
        }
        // A protocol to which only operations conform.
        return types[name]?.first {
            $0.kind == .protocol && $0.supers.first.flatMap { systemTypes[$0.name] } == .operation
        }?
        .supers.first?.name
    }

    /// Whether a class can inherit a member from a class outside the code base.
    func inheritsFromElsewhere(_ member: Word, _ name: Word) -> Bool {
        let classes = chain(from: name)
        guard let last = classes.last?.supers.first, types[last.name] == nil, alias(last.name) == nil else {
            return false
        }
        return !classes.contains { declares(member, in: $0.name) }
    }

    /// A class and its superclasses in the code base, at most 64.
    func chain(from name: Word) -> [TypeDeclaration] {
        var result: [TypeDeclaration] = []
        var name: Word? = name
        while let current = name, result.count < 64 {
            guard let declaration = types[current]?.first(where: { $0.kind == .class }) else { break }
            if result.contains(where: { $0.name == current }) { break }
            result.append(declaration)
            name = declaration.supers.first?.name
        }
        return result
    }

    /// The target of an alias of another file; nil if a type of the code base has the name.
    func alias(_ name: Word) -> TypeReference? { hides(name) ? nil : aliases[name] }

    /// The meaning of an alias with several targets: a system type if there is one, otherwise the last target.
    func meant(_ types: [TypeReference]) -> TypeReference? { types.first { systemTypes[$0.name] != nil } ?? types.last }
}

/// A set of words that is asked about every token of a code base.
struct WordTable {
    private var isMember: [Bool] = []

    init(_ words: some Sequence<Word>) {
        for word in words {
            let place = Int(word.number)
            if place >= isMember.count {
                isMember += [Bool](repeating: false, count: place + 1 - isMember.count)
            }
            isMember[place] = true
        }
    }

    func contains(_ word: Word) -> Bool { Int(word.number) < isMember.count && isMember[Int(word.number)] }
}
