/// The declarations of all files, to look types up by name.
final class CodeBase {
    struct MemberKey: Hashable {
        var owner: Word
        var name: Word
    }

    /// A fact that is known only if all its declarations agree.
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
    /// The types of parameters, by the label and the name of the function (for an initialiser, the name of its type).
    private var parameters: [MemberKey: Agreed<TypeReference>] = [:]
    /// The first associated values of enumeration cases, by the names of the cases.
    private var payloads: [Word: Agreed<TypeReference>] = [:]
    /// Functions by the type that they are in.
    private var methods: Set<MemberKey> = []
    private var systemTypes: [Word: SystemType] = [:]
    private var known: [Word: SystemType?] = [:]
    private var isolated: [Word: Bool] = [:]
    private let systemMembers: [MemberKey: TypeReference]

    init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        for type in SystemType.allCases { systemTypes[vocabulary[type.rawValue]] = type }
        for (name, type) in SystemType.otherNames { systemTypes[vocabulary[name]] = type }
        // As a name qualified by its module is read.
        for type in SystemType.allCases { systemTypes[vocabulary["Foundation." + type.rawValue]] = type }
        systemMembers = Dictionary(
            uniqueKeysWithValues: SystemType.members.map { owner, name, type, isCollection in
                let reference = TypeReference(name: vocabulary[type.rawValue], layers: isCollection ? 1 : 0)
                return (MemberKey(owner: vocabulary[owner.rawValue], name: vocabulary[name]), reference)
            })
    }

    func add(_ declarations: Declarations, of file: SourceFile) {
        for type in declarations.types { types[type.name, default: []].append(type) }
        for (name, types) in declarations.aliases where aliases[name].map({ systemTypes[$0.name] == nil }) ?? true {
            aliases[name] = meant(types)
        }
        for function in declarations.functions {
            functions.insert(function.name)
            methods.insert(MemberKey(owner: function.owner, name: function.name))
            guard let result = function.result else { continue }
            results[MemberKey(owner: function.owner, name: function.name), default: Agreed(value: result)].state(result)
        }
        for (key, type) in declarations.parameters {
            parameters[key, default: Agreed(value: type)].state(type)
        }
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

    /// Adds a class of another package that is a kind of system type, unless the code base has one of that name.
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

    func payload(of name: Word) -> TypeReference? { payloads[name]?.value }

    /// Whether a type of the code base, or an extension of another, declares a function or variable.
    func declares(_ name: Word, in owner: Word) -> Bool {
        let key = MemberKey(owner: owner, name: name)
        return methods.contains(key) || members[key] != nil
    }

    /// Whether a function or variable is declared by a protocol of the code base to which the code base makes a system
    /// type conform.
    func declaresInProtocol(_ name: Word, of type: SystemType) -> Bool {
        (types[vocabulary[type.rawValue]] ?? []).contains { declaration in
            declaration.supers.contains { declares(name, in: $0.name) }
        }
    }

    /// The system type of a name that a type of the code base hides.
    func hiddenSystemType(_ name: Word) -> SystemType? { hides(name) ? systemTypes[name] : nil }

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

    /// The type that all variables of a name have, wherever they are; nil if they differ.
    func anyVariable(_ name: Word) -> TypeReference? { variables[name]?.value }

    /// Whether the code base has a type of its own by that name at the top of a file, which hides the system's.
    func hides(_ name: Word) -> Bool {
        types[name]?.contains { $0.isDeclaration && $0.outer == Vocabulary.none } ?? false
    }

    /// The system type of a type name: the type itself, the target of an alias, or an ancestor of a class.
    func systemType(_ name: Word) -> SystemType? {
        if let known = known[name] { return known }
        known[name] = .some(nil)  // a ring of classes or aliases is no system type
        let result = findSystemType(name)
        known[name] = .some(result)
        return result
    }

    private func findSystemType(_ name: Word) -> SystemType? {
        var name = name
        // No chain is longer in practice. The bound keeps hostile chains from overflowing the stack.
        for _ in 0..<64 {
            if let type = systemTypes[name], !hides(name) { return type }
            // An alias in one file does not change the meaning of a type of the same name in the others.
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

    /// The types of observers and conditions that operations of the code base keep or are given.
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
        isolated[name] = false  // a ring of types is not
        let declarations = (types[name] ?? []).filter(\.isDeclaration)
        let result =
            declarations.contains { $0.isIsolated || $0.supers.contains { isIsolated($0.name) } }
            || declarations.isEmpty && MainActorTypes.contains(vocabulary[name])
        isolated[name] = result
        return result
    }

    func declaresClass(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .class } ?? false }

    /// Whether a class has its methods in a file of its own.
    func hasImplementation(_ name: Word) -> Bool { types[name]?.contains { $0.kind == .implementation } ?? false }

    /// The class that a class of the code base inherits from, as far as its list says.
    func superclass(of name: Word) -> Word? {
        if let parent = types[name]?.lazy.filter({ $0.kind == .class }).compactMap(\.supers.first?.name).first {
            return parent
        }
        // A protocol that only operations conform to.
        return types[name]?.first {
            $0.kind == .protocol && $0.supers.first.flatMap { systemTypes[$0.name] } == .operation
        }?
        .supers.first?.name
    }

    /// Whether a class can inherit a member from a class that the code base does not declare.
    func inheritsFromElsewhere(_ member: Word, _ name: Word) -> Bool {
        let classes = chain(from: name)
        guard let last = classes.last?.supers.first, types[last.name] == nil, alias(last.name) == nil else {
            return false
        }
        return !classes.contains { declares(member, in: $0.name) }
    }

    /// The classes from one up to its last that the code base declares, at most 64.
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

    /// Of several targets of an alias, a system type if there is one.
    func meant(_ types: [TypeReference]) -> TypeReference? { types.first { systemTypes[$0.name] != nil } ?? types.last }
}
