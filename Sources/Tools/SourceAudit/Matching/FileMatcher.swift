/// Finds the patterns of one file.
struct FileMatcher {
    let file: SourceFile
    let declarations: Declarations
    let codeBase: CodeBase
    let rules: Rules
    let typer: Typer
    /// The compiler's index of the file; nil if its record is missing or out of date.
    let record: FileRecord?
    private(set) var findings: [Finding] = []
    /// The positions in `findings` by token.
    private var places: [Int: [Int]] = [:]
    /// The positions of removed findings.
    private var removed: Set<Int> = []
    /// The uses of system types' members on variables, for analyses that compare several places.
    private(set) var sites: [Site] = []
    /// The places where system types are named.
    private(set) var typeNames: [(index: Int, type: SystemType)] = []
    /// Whether the compiler checks the file's target strictly, or isolates the whole target to the main actor.
    var isChecked = false
    /// Whether waits in synchronous functions are found, which async code may call.
    var collectsWaits = false
    /// Whether the file names `Operation`, `OperationQueue` or a subclass. Without one of them, the name of a variable
    /// does not suggest an operation.
    private var namesOperations = false

    init(_ file: SourceFile, _ declarations: Declarations, _ codeBase: CodeBase, _ rules: Rules, _ record: FileRecord?)
    {
        self.file = file
        self.declarations = declarations
        self.codeBase = codeBase
        self.rules = rules
        self.record = record
        typer = Typer(file: file, declarations: declarations, codeBase: codeBase)
    }

    mutating func run() {
        namesOperations = findNamesOfOperations()
        for index in file.tokens.indices where file.tokens[index].kind == .word {
            let word = file.tokens[index].word
            if let members = rules.members[word] { matchMember(index, members) }
            if let functions = rules.functions[word] { matchFunction(index, functions) }
            if file.language == .objectiveC { matchMessage(index, word) }
            if let type = madeType(index) {
                matchMade(index, type)
                if rules.typeNames[word] == type { typeNames.append((index, type)) }
            }
            if word == Word(.synchronized), file.language == .objectiveC, file[index - 1] == .at {
                add("lock-synchronized", index, .certain)
            }
            if word == Word(.initializer), file[index - 1] == .dot { matchImplicitlyMade(index) }
        }
        analyze()
        findings = findings.enumerated().filter { !removed.contains($0.offset) }.map(\.element)
        if file.language == .objectiveC {
            for place in findings.indices {
                findings[place].pattern = Patterns.byID["objc-\(findings[place].pattern.id)"]!
            }
        }
        findings.sort { ($0.token, $0.pattern.id) < ($1.token, $1.pattern.id) }
    }

    // MARK: Members

    private mutating func matchMember(_ index: Int, _ rules: [Rules.Rule]) {
        // A call after a dot is C++.
        if file.language == .objectiveC, file[index - 1] == .dot, file[index + 1] == .openParen { return }
        // `willChangeValue(for: \.isFinished)` is part of a state machine, which is found as a whole.
        if file[index - 6] == .willChangeValue || file[index - 6] == .didChangeValue { return }
        guard let (type, certainty) = ownerType(index, rules) else { return }
        // A system object keeps the queue, so the code that uses it there is kept too.
        if file[index - 1] == .dot, isSystemProperty(index - 2) { return }
        if let identity = identity(ofMember: index) {
            sites.append(Site(identity: identity, type: type, member: file.word(index), token: index))
        }
        for rule in rules where rule.types.contains(where: type.isKind) && holds(rule.conditions, index) {
            return add(rule.pattern, index, certainty)
        }
    }

    /// The system type that declares the member with a word as its name; nil if the word is not such a member.
    private func ownerType(_ index: Int, _ rules: [Rules.Rule]) -> (SystemType, Finding.Certainty)? {
        if let record {
            switch record.owner(at: file.line(index), file.column(index), named: file.text(index)) {
            case .system(let type): return (type, .certain)
            case .other: return nil
            case .unknown: break
            }
        }
        let fits = { (type: SystemType) in rules.contains { $0.types.contains(where: type.isKind) } }
        if file[index - 1] == .dot {
            if let result = typer.receiver(ofDot: index - 1) ?? typer.root(ofKeyPath: index - 1) {
                guard let type = typer.systemType(result) else {
                    return hiddenType(result, index, fits) ?? optionalType(result, index, fits)
                        ?? foreignType(result, index, rules)
                }
                guard fits(type), !isOwnOverload(index, of: result.type.name) else { return nil }
                // The member may belong to an extension of `Optional` or of a protocol. Names do not show that.
                let isOwn =
                    codeBase.declares(file.word(index), in: Word(.optionalType))
                    || codeBase.declaresInProtocol(file.word(index), of: type)
                return (type, result.isCertain && !isOwn ? .certain : .likely)
            }
            if isForeign(index) { return nil }
            if let type = implicitType(index), fits(type) { return (type, .likely) }
            return guess(index, rules).map { ($0, .likely) }
        }
        // A member of the enclosing type, without `self`.
        guard file[index - 1] != .func, file[index - 1] != .var, file[index - 1] != .let, file[index + 1] != .colon,
            file.language == .swift, declarations.local(file.word(index), at: index, in: file) == nil,
            let type = codeBase.systemType(file.typeName(around: index)), fits(type),
            !isOwnOverload(index, of: file.typeName(around: index))
        else { return nil }
        return (type, .certain)
    }

    /// Whether the labels of a call belong only to an overload in the code base's own subclass.
    private func isOwnOverload(_ index: Int, of name: Word) -> Bool {
        let chain = codeBase.chain(from: name)
        guard !chain.isEmpty, chain.contains(where: { codeBase.declares(file.word(index), in: $0.name) }) else {
            return false
        }
        return labels(index).contains { label in
            file[label] != .waitUntilFinished && codeBase.parameter(file.word(label), of: file.word(index)) != nil
        }
    }

    /// Whether a chain begins with a type that is neither in the code base nor a subject of patterns, as in
    /// `NSAppleEventManager.shared().setEventHandler(…)`.
    private func isForeign(_ index: Int) -> Bool {
        guard let start = typer.chainStart(before: index - 1), start < index - 2, file.beginsUpper(start) else {
            return labels(index).contains { file.text($0) == "andSelector" }
        }
        return codeBase.systemType(file.word(start)) == nil && codeBase.types[file.word(start)] == nil
            && codeBase.alias(file.word(start)) == nil
    }

    /// The system type of a name that a type of the code base hides, if only the system type has the member.
    private func hiddenType(
        _ result: Typer.Result, _ index: Int, _ fits: (SystemType) -> Bool
    ) -> (SystemType, Finding.Certainty)? {
        guard result.isMetatype, let type = codeBase.hiddenSystemType(result.type.name), fits(type),
            !codeBase.declares(file.word(index), in: result.type.name)
        else { return nil }
        return (type, .likely)
    }

    /// The element type of a result of `map` that was read as a list, if code uses it as a single value: then `map` was
    /// called on an optional.
    private func optionalType(
        _ result: Typer.Result, _ index: Int, _ fits: (SystemType) -> Bool
    ) -> (SystemType, Finding.Certainty)? {
        guard result.type.layers == 1, file[index - 2] == .question,
            let type = codeBase.systemType(result.type.element.name), fits(type)
        else { return nil }
        return (type, .likely)
    }

    /// The type of a value whose class inherits from an unknown class, if only the system's class has the member.
    private func foreignType(
        _ result: Typer.Result, _ index: Int, _ rules: [Rules.Rule]
    ) -> (SystemType, Finding.Certainty)? {
        guard self.rules.telling.contains(file.word(index)), result.type.layers == 0, !result.isMetatype,
            codeBase.inheritsFromElsewhere(file.word(index), result.type.name)
        else { return nil }
        return (rules[0].types[0], .likely)
    }

    /// The type of `.main` in `queue: .main`, in `let queue: DispatchQueue = .main`, in `var queue: DispatchQueue
    /// { .main }`, and in a call of a function of the code base.
    private func implicitType(_ index: Int) -> SystemType? {
        let before = index - 2
        switch file[before] {
        case .equal: return codeBase.systemType(file.word(file[before - 1] == .question ? before - 2 : before - 1))
        case .openBrace:
            let scope = file.outline.scopes[file.outline.scope(of: before)]
            guard scope.kind == .function, file[scope.head] == .var, file[scope.head + 2] == .colon else { return nil }
            return file.type(at: scope.head + 3).flatMap { codeBase.systemType($0.type.name) }
        case .openParen:
            guard file.isWord(before - 1) else { return nil }
            if Self.queueConditions.contains(file.text(before - 1)) { return .dispatchQueue }
            return parameter(Word(.underscore), of: file.word(before - 1)).flatMap { codeBase.systemType($0.name) }
        case .colon:
            let label = before - 1
            if let open = openParen(before: label), file.isWord(open - 1),
                let type = parameter(file.word(label), of: file.word(open - 1))
            {
                return codeBase.systemType(type.name)
            }
            // Combine publishes a timer on a run loop.
            if let call = call(ofArgument: index - 1), file.text(call.name) == "publish" { return .runLoop }
            return ["queue", "on"].contains(file.text(label)) ? .dispatchQueue : nil
        default: return nil
        }
    }

    /// The conditions that `dispatchPrecondition` takes.
    static let queueConditions: Set<String> = ["onQueue", "notOnQueue", "onQueueAsBarrier"]

    /// The type of a parameter: of the file's own function of that name if there is one, otherwise of the code base's.
    private func parameter(_ label: Word, of function: Word) -> TypeReference? {
        if let own = declarations.parameters[CodeBase.MemberKey(owner: function, name: label)] { return own }
        return codeBase.parameter(label, of: function)
    }

    /// The opening parenthesis of the call that contains a label, if it is near.
    private func openParen(before label: Int) -> Int? {
        var position = label - 1
        for _ in 0..<24 {
            switch file[position] {
            case .openParen: return position
            case .closeParen, .closeSquare, .closeBrace: position = file.partner(position) - 1
            case .openBrace, .openSquare, .semicolon: return nil
            default: position -= 1
            }
            if position < 0 { return nil }
        }
        return nil
    }

    /// The type of a value, guessed from the name of the value or of its member.
    private func guess(_ index: Int, _ rules: [Rules.Rule]) -> SystemType? {
        let word = file.word(index)
        // With this import, types of this library may have the same names.
        if declarations.imports.contains(Word(.taskOperations)) || isAwaited(index) { return nil }
        if self.rules.telling.contains(word) { return codeBase.functions.contains(word) ? nil : rules[0].types[0] }
        // Only a Dispatch queue has methods with these labels.
        if word == Word(.async) || word == Word(.sync),
            labels(index).contains(where: { file[$0] == .execute || file[$0] == .flags })
        {
            return .dispatchQueue
        }
        // A static member of a system type, such as `DispatchQueue.decoding`, usually has this type.
        if file[index - 1] == .dot, file[index - 3] == .dot, file[index - 5] != .dot, isCalled(index),
            let type = codeBase.systemType(file.word(index - 4)), type == .dispatchQueue || type == .operationQueue,
            rules.contains(where: { $0.types.contains(where: type.isKind) })
        {
            return type
        }
        let name = receiverName(index).lowercased()
        let isCalled = file[index + 1] == .openParen || file[index + 1] == .openBrace
        guard !name.isEmpty, isCalled || name == "operation" && file.text(index) != "name" else { return nil }
        return rules.lazy.flatMap(\.types).first { type in
            (Rules.hints[type].map { name.hasSuffix($0) || name.hasPrefix($0) } ?? false)
                && (type != .operation || namesOperations)
        }
    }

    private func findNamesOfOperations() -> Bool {
        file.tokens.contains { token in
            guard token.kind == .word, let type = codeBase.systemType(token.word) else { return false }
            return type.isKind(of: .operation) || type.isKind(of: .operationQueue)
        }
    }

    /// Whether `await` precedes the expression of a member. No member of a system type is `async`.
    private func isAwaited(_ index: Int) -> Bool {
        guard file[index - 1] == .dot, let start = typer.chainStart(before: index - 1) else { return false }
        return file[start - 1] == .await
    }

    /// The last name of the expression before a member, whether or not it is called.
    func receiverName(_ index: Int) -> String {
        guard file[index - 1] == .dot else { return "" }
        var position = index - 2
        while file[position] == .question || file[position] == .exclamation { position -= 1 }
        if file[position] == .closeParen || file[position] == .closeSquare { position = file.partner(position) - 1 }
        return file.isWord(position) ? file.text(position) : ""
    }

    // MARK: Functions, messages and values

    private mutating func matchFunction(_ index: Int, _ rules: [Rules.Rule]) {
        switch file[index - 1] {
        case .func, .class, .struct, .enum, .protocol, .import, .defineDirective, .at: return
        default: break
        }
        let word = file.word(index)
        // A function of the file's module or of the enclosing type hides the C function.
        if file.language == .swift, file[index - 1] != .dot, !rules.contains(where: \.hasLabels),
            codeBase.declares(word, in: Vocabulary.none) || codeBase.declares(word, in: file.typeName(around: index))
        {
            return
        }
        let isOwn = codeBase.functions.contains(word) || codeBase.types[word] != nil
        for rule in rules where holds(rule.conditions, index) {
            return add(rule.pattern, index, isOwn ? .likely : .certain)
        }
    }

    /// Matches a message by the type of its receiver, or by its selector alone.
    private mutating func matchMessage(_ index: Int, _ word: Word) {
        // `[operation cancel:token]` is a method of the code base.
        if file[index + 1] == .colon, Self.unarySelectors.contains(file.text(index)) { return }
        let (members, messages) = (rules.members[word] ?? [], rules.messages[word] ?? [])
        guard !(members.isEmpty && messages.isEmpty), let receiver = typer.receiver(ofMessage: index) else { return }
        let type = typer.systemType(receiver.type)
        if let type,
            let rule = members.first(where: { $0.types.contains(where: type.isKind) && holds($0.conditions, index) })
        {
            return add(rule.pattern, index, receiver.type?.isCertain == true ? .certain : .likely)
        }
        // If the receiver has another class, the selector is not significant.
        if let own = receiver.type, type == nil, codeBase.declares(word, in: own.type.name) { return }
        let hasAnyReceiver = messages.contains(where: \.hasAnyReceiver)
        if type == nil, !hasAnyReceiver, let other = receiver.type, isForeign(other) { return }
        for rule in messages where holds(rule.conditions, index) {
            return add(rule.pattern, index, type == nil ? .likely : .certain)
        }
    }

    /// Selectors that take no argument.
    private static let unarySelectors: Set<String> = [
        "cancel", "start", "main", "isCancelled", "isFinished", "isExecuting", "isReady", "lock", "unlock", "signal",
        "broadcast", "invalidate", "fire", "resume", "suspend", "waitUntilFinished", "waitUntilExit",
        "cancelAllOperations", "waitUntilAllOperationsAreFinished",
    ]

    /// Whether a receiver is a class, or an instance of another package's class whose name does not suggest an
    /// operation or a queue.
    private func isForeign(_ receiver: Typer.Result) -> Bool {
        let name = file.vocabulary[receiver.type.name]
        if receiver.isMetatype { return true }
        return codeBase.types[receiver.type.name] == nil && name != "id" && !name.contains("Operation")
            && !name.contains("Queue")
    }

    /// The system type that a name denotes, according to the index or to its declarations.
    private func madeType(_ index: Int) -> SystemType? {
        let type = codeBase.systemType(file.word(index))
        guard let record, type != nil || file.beginsUpper(index) else { return type }
        switch record.made(at: file.line(index), file.column(index)) {
        case .system(let type): return type
        case .other: return nil
        case .unknown: return type
        }
    }

    private mutating func matchMade(_ index: Int, _ type: SystemType) {
        let next = file[index + 1]
        if file.language == .objectiveC {
            guard file[index - 1] == .openSquare, next == .new || next == .alloc else { return }
            return addMade(type, index)
        }
        var before = (isQualified(index) ? index - 2 : index) - 1
        if file[before - 1] == .as { before -= 1 }  // `as?`, `as!`
        switch file[before] {
        case .colon where next == .openBrace && !isLabel(before - 1): return
        case .comma where next == .openBrace: return
        case .dot, .arrow, .class, .enum, .actor, .extension, .protocol, .struct, .func, .case, .ampersand, .equals,
            .is, .as:
            return
        default: break
        }
        var call = index + 1
        if next == .less {  // OSAllocatedUnfairLock<State>(…)
            while call < index + 30, file[call] != .greater { call += 1 }
            call += 1
        }
        if file[call] == .dot, file[call + 1] == .initializer { return }
        if file[call] == .openParen || file[call] == .openBrace && !file.isFirstOnLine(call) { addMade(type, index) }
    }

    /// Whether a word is the label of an argument, as in `f(label: …)`.
    private func isLabel(_ index: Int) -> Bool {
        guard file.isWord(index), file[index - 1] == .openParen || file[index - 1] == .comma else { return false }
        return call(ofArgument: index + 2) != nil
    }

    /// Matches `.init(…)` behind a type or in a declaration: `let queue: OperationQueue = .init()`.
    private mutating func matchImplicitlyMade(_ index: Int) {
        guard file[index + 1] == .openParen else { return }
        let name = file[index - 2] == .equal ? index - 3 : index - 2
        guard file.isWord(name), let type = codeBase.systemType(file.word(name)) else { return }
        addMade(type, index)
    }

    /// Whether the name of its module qualifies a type.
    func isQualified(_ index: Int) -> Bool {
        file[index - 1] == .dot && (file[index - 2] == .foundation || file[index - 2] == .dispatch)
    }

    private mutating func addMade(_ type: SystemType, _ index: Int) {
        // A subclass is found at its declaration.
        if type == .operation, file.text(index) != "Operation", file.text(index) != "NSOperation" { return }
        if type == .operationQueue || type == .thread, codeBase.declaresClass(file.word(index)) { return }
        for rule in rules.made where rule.types.contains(type) && holds(rule.conditions, index) {
            return add(rule.pattern, index, .certain)
        }
    }

    // MARK: Results

    mutating func add(_ id: String, _ index: Int, _ certainty: Finding.Certainty) {
        guard let pattern = Patterns.byID[id] else { preconditionFailure("no pattern \(id)") }
        add(pattern, index, certainty)
    }

    mutating func add(_ pattern: Pattern, _ index: Int, _ certainty: Finding.Certainty) {
        guard !findings(at: index).contains(where: { $0.pattern.id == pattern.id }) else { return }
        let line = file.line(index)
        places[index, default: []].append(findings.count)
        findings.append(
            Finding(
                pattern: pattern, path: file.path, line: line, column: file.column(index), certainty: certainty,
                condition: conditionText(index), source: trimmed(file.contents(ofLine: line)), context: context(index),
                allowance: nil, file: file.number, token: index, declaration: declaration(index)))
    }

    /// The findings at a token so far.
    func findings(at token: Int) -> [Finding] {
        (places[token] ?? []).lazy.filter { !removed.contains($0) }.map { findings[$0] }
    }

    /// Removes findings at a token, for which another pattern is more specific.
    mutating func remove(_ isWrong: (Pattern) -> Bool, at token: Int) {
        for place in places[token] ?? [] where isWrong(findings[place].pattern) { removed.insert(place) }
    }

    private func conditionText(_ index: Int) -> String {
        let number = file.outline.condition(of: index)
        guard number > 0 else { return "" }
        return file.outline.conditions[number].map { range, isNegated in
            let text = range.prefix(32).map { file.text($0) }.joined()
            return isNegated ? "!(\(text))" : text
        }.joined(separator: " && ")
    }

    /// The context of a token as `Type.function`, without the parts that do not exist.
    private func context(_ index: Int) -> String {
        let scopes = file.outline.scopes(around: index).filter {
            let kind = file.outline.scopes[$0].kind
            return kind == .type || kind == .function
        }
        return scopes.reversed().map { file.vocabulary[file.outline.scopes[$0].name] }.filter { !$0.isEmpty }
            .joined(separator: ".")
    }

    private func declaration(_ index: Int) -> Finding.Declaration? {
        let outline = file.outline
        let outermost = outline.scopes(around: index).last { outline.scopes[$0].kind == .type }
        guard let number = outermost ?? outline.declaration(withHeadAt: index) else { return nil }
        let scope = outline.scopes[number]
        let (first, last) = (file.line(scope.head), file.line(min(scope.close, file.tokens.count - 1)))
        return Finding.Declaration(name: file.vocabulary[scope.name], lines: first...max(first, last))
    }

    private func trimmed(_ line: String) -> String {
        var line = line[...]
        while let first = line.first, first.isWhitespace { line.removeFirst() }
        while let last = line.last, last.isWhitespace { line.removeLast() }
        return String(line)
    }
}

/// A use of a system type's member on a variable.
struct Site {
    let identity: Identity
    let type: SystemType
    let member: Word
    let token: Int
}

/// Identifies a variable: a local one by its scope, a member by its type.
struct Identity: Hashable {
    let owner: Word
    /// The scope of a local variable, -1 for a member.
    let scope: Int
    let name: Word
}
