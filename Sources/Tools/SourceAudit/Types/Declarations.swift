/// A type, or an extension of one.
struct TypeDeclaration {
    enum Kind {
        case `class`, structure, enumeration, actor, `protocol`, `extension`
        /// The `@implementation` of an Objective-C class, which contains its methods.
        case implementation
    }

    let name: Word
    let kind: Kind
    let supers: [TypeReference]
    /// The number of the file. `scope` is the index of the type's scope in the file.
    let file: Int
    let scope: Int
    /// The token of the type's name.
    let index: Int
    /// The enclosing type; the empty word at the top of a file.
    let outer: Word
    let isOpen: Bool
    /// Whether other files cannot see the type.
    let isPrivate: Bool
    let isGeneric: Bool
    /// Whether the type is isolated to a global actor.
    var isIsolated = false
    /// Whether the type is an actor, or is declared `nonisolated`.
    var isNonisolated = false

    /// Whether the declaration introduces the type.
    var isDeclaration: Bool { kind != .extension && kind != .implementation }
}

/// A variable, a constant or a parameter.
struct Variable {
    enum Source {
        /// The declaration states the type.
        case declared(TypeReference)
        /// The variable has the type of the expression that begins at a token.
        case expression(Int)
        /// The variable is an element of the sequence that begins at a token.
        case element(of: Int)
        /// The variable is the first or second parameter of the closure that begins at a token.
        case parameter(ofClosure: Int, isSecond: Bool)
        /// The variable is the first associated value of an enumeration case.
        case payload(of: Word)
        case unknown
    }

    let name: Word
    let source: Source
    let scope: Int
    /// The token of the variable's name.
    let index: Int
    /// Whether it is declared by `var`.
    let isVariable: Bool
}

/// The declarations of a file.
struct Declarations {
    struct Key: Hashable {
        var scope: Int
        var name: Word
    }

    var types: [TypeDeclaration] = []
    var variables: [Variable] = []
    /// The computed properties that state their type, with the names of their types.
    private(set) var computed: [(key: CodeBase.MemberKey, type: TypeReference)] = []
    /// The indices of variables by scope and name, in the order of the file.
    var variablesByKey: [Key: [Int]] = [:]
    /// The result types of functions, by the names of their types and of the functions.
    private(set) var functions: [(owner: Word, name: Word, result: TypeReference?)] = []
    /// The result types by type and function name; nil if the file has several functions of the name whose result types
    /// differ.
    private(set) var results: [CodeBase.MemberKey: TypeReference?] = [:]
    /// The types of parameters by function and label; nil if the file has several whose types differ.
    private(set) var parameters: [CodeBase.MemberKey: TypeReference?] = [:]
    /// The first associated values of enumeration cases.
    var payloads: [(Word, TypeReference)] = []
    /// The targets of aliases. An alias has several if the branches of `#if` declare it differently.
    var aliases: [Word: [TypeReference]] = [:]
    /// Names of associated types and generic parameters, which hide types of the same name.
    var hidden: Set<Word> = []
    /// The modules that are imported.
    var imports: Set<Word> = []

    init(_ file: SourceFile) {
        switch file.language {
        case .swift: readSwift(file)
        case .objectiveC: readObjectiveC(file)
        }
    }

    mutating func add(_ name: Word, _ source: Variable.Source, _ scope: Int, _ index: Int, isVariable: Bool = false) {
        variablesByKey[Key(scope: scope, name: name), default: []].append(variables.count)
        variables.append(Variable(name: name, source: source, scope: scope, index: index, isVariable: isVariable))
    }

    mutating func addComputed(_ name: Word, of owner: Word, _ type: TypeReference) {
        computed.append((CodeBase.MemberKey(owner: owner, name: name), type))
    }

    mutating func addParameter(_ label: Word, of function: Word, _ type: TypeReference) {
        Self.state(type, CodeBase.MemberKey(owner: function, name: label), in: &parameters)
    }

    mutating func addFunction(_ name: Word, of owner: Word, _ result: TypeReference?) {
        functions.append((owner, name, result))
        if let result { Self.state(result, CodeBase.MemberKey(owner: owner, name: name), in: &results) }
    }

    private static func state(
        _ type: TypeReference, _ key: CodeBase.MemberKey, in types: inout [CodeBase.MemberKey: TypeReference?]
    ) {
        if let known = types[key], known != type {
            types[key] = .some(nil)
        } else {
            types[key] = .some(type)
        }
    }

    /// The variable that a name denotes at a token, by the enclosing scopes; excludes members of types.
    func local(_ name: Word, at index: Int, in file: SourceFile) -> Variable? {
        for scope in file.outline.scopes(around: index) + [0] where file.outline.scopes[scope].kind != .type {
            guard let places = variablesByKey[Key(scope: scope, name: name)] else { continue }
            // The last variable declared before the token hides earlier variables.
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                if variables[places[middle]].index < index { low = middle + 1 } else { high = middle }
            }
            if low > 0 { return variables[places[low - 1]] }
        }
        return nil
    }
}

extension SourceFile {
    /// The name of the type around a token; the empty word outside of any.
    func typeName(around index: Int) -> Word {
        outline.enclosing(.type, of: index).map { outline.scopes[$0].name } ?? Vocabulary.none
    }

    /// The scope that a brace opens, if the declaration that begins at `head` has one.
    func scope(withHead head: Int) -> Int? { scopesByHead[head] }
}
