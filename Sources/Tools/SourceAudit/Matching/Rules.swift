/// The patterns by their first words, for one vocabulary.
struct Rules {
    struct Rule {
        let pattern: Pattern
        let types: [SystemType]
        let conditions: [CompiledCondition]
        /// Whether any object or class can be the receiver of the message.
        var hasAnyReceiver = false

        /// Whether the labels of a call distinguish it from others of its name.
        var hasLabels: Bool {
            conditions.contains { condition in
                if case .label = condition { return true }
                return false
            }
        }
    }

    private(set) var members: [Word: [Rule]] = [:]
    private(set) var functions: [Word: [Rule]] = [:]
    private(set) var messages: [Word: [Rule]] = [:]
    private(set) var made: [Rule] = []
    private(set) var named: [SystemType: Pattern] = [:]
    /// The system's names of the types.
    let typeNames: [Word: SystemType]
    /// Members whose names are unique to one library.
    let telling: Set<Word>
    /// For each type, a string that suggests the type if it occurs in the name of a value.
    static let hints: [SystemType: String] = [
        .dispatchQueue: "queue", .group: "group", .semaphore: "sem", .lock: "lock",
        .operation: "operation",
    ]

    init(_ patterns: [Pattern], _ vocabulary: Vocabulary) {
        telling = Set(
            [
                "addOperation", "addOperations", "addDependency", "removeDependency", "waitUntilFinished",
                "waitUntilAllOperationsAreFinished", "cancelAllOperations", "maxConcurrentOperationCount",
                "addBarrierBlock", "addExecutionBlock", "queuePriority", "asyncAfter", "threadDictionary",
                "underlyingQueue", "concurrentPerform", "detachNewThread", "setEventHandler", "waitUntilExit",
            ].map { vocabulary[$0] })
        typeNames = Dictionary(
            uniqueKeysWithValues: (SystemType.allCases.map { ($0.rawValue, $0) } + SystemType.otherNames).map {
                (vocabulary[$0], $1)
            })
        for pattern in patterns {
            for shape in pattern.shapes { add(pattern, shape, vocabulary) }
        }
    }

    private mutating func add(_ pattern: Pattern, _ shape: Pattern.Shape, _ vocabulary: Vocabulary) {
        func rule(_ types: [SystemType], _ conditions: [Condition]) -> Rule {
            Rule(pattern: pattern, types: types, conditions: conditions.map { CompiledCondition($0, vocabulary) })
        }
        switch shape {
        case .member(let names, let types, let conditions):
            for name in names { members[vocabulary[name], default: []].append(rule(types, conditions)) }
        case .function(let names, let conditions):
            for name in names { functions[vocabulary[name], default: []].append(rule([], conditions)) }
        case .message(let names, let hasAnyReceiver, let conditions):
            var rule = rule([], conditions)
            rule.hasAnyReceiver = hasAnyReceiver
            for name in names { messages[vocabulary[name], default: []].append(rule) }
        case .named(let types): for type in types { named[type] = pattern }
        case .made(let types, let conditions): made.append(rule(types, conditions))
        case .analysis: break
        }
    }
}

/// A condition in the words of a vocabulary.
indirect enum CompiledCondition {
    case mentions(Word)
    case label(Word)
    case on(Word)
    case argument(Word)
    case assignedNumber(Word)
    case qualified(Word)
    case plain(Condition)
    case not(CompiledCondition)

    init(_ condition: Condition, _ vocabulary: Vocabulary) {
        self =
            switch condition {
            case .mentions(let text): .mentions(vocabulary[text])
            case .label(let text): .label(vocabulary[text])
            case .on(let text): .on(vocabulary[text])
            case .argument(let text): .argument(vocabulary[text])
            case .assignedNumber(let text): .assignedNumber(vocabulary[text])
            case .qualified(let text): .qualified(vocabulary[text])
            case .not(let condition): .not(CompiledCondition(condition, vocabulary))
            default: .plain(condition)
            }
    }
}
