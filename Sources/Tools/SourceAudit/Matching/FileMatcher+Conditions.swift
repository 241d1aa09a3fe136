extension FileMatcher {
    func holds(_ conditions: [CompiledCondition], _ index: Int) -> Bool {
        conditions.allSatisfy { holds($0, index) }
    }

    private func holds(_ condition: CompiledCondition, _ index: Int) -> Bool {
        switch condition {
        case .mentions(let word): arguments(index).contains { file.isWord($0) && file.word($0) == word }
        case .label(let word): labels(index).contains { file.word($0) == word }
        case .on(let word): file[index - 1] == .dot && receiver(index) == word
        case .qualified(let word):
            file[index - 1] == .colon && file[index - 2] == .colon && file.word(index - 3) == word
        case .argument(let word): hasOpening(index) && firstArgument(index) == word
        case .assignedNumber(let word):
            file[index + 1] == .equal && file.word(index + 2) == word && file[index + 3] != .dot
        case .not(let condition): !holds(condition, index)
        case .plain(let condition): holds(condition, index)
        }
    }

    private func holds(_ condition: Condition, _ index: Int) -> Bool {
        switch condition {
        case .called: isCalled(index)
        case .free:
            file[index - 1] != .func && file[index - 1] != .await
                && (file[index - 1] != .dot || Self.modulesOfC.contains(file.text(index - 2)))
        case .targetsQueue: targetsQueue(index)
        case .emptyClosure: hasEmptyClosure(index)
        case .assigned: file[index + 1] == .equal
        case .inLoop: isInLoop(index)
        case .inQueueBlock: isInQueueBlock(index)
        case .inOperation: isInOperation(index)
        case .argumentNamed(let text): firstArgumentName(index).lowercased().hasSuffix(text)
        case .named(let text): receiverName(index).lowercased().contains(text)
        case .closureOnly: file[index + 1] == .openBrace
        case .last: isLast(index)
        default: preconditionFailure("\(condition) has words")
        }
    }

    /// The modules that contain the functions of the C library.
    private static let modulesOfC: Set<String> = ["Darwin", "Glibc", "Musl", "Android", "Bionic", "Foundation"]

    /// Whether an argument labelled `target` or `queue`, or the last one, names a queue that is not global.
    private func targetsQueue(_ index: Int) -> Bool {
        let labels = labels(index).filter { file[$0] == .target || file.text($0) == "queue" }
        let end = file.partner(index + 1)
        guard let start = labels.last.map({ $0 + 2 }) ?? argumentStarts(index).last, start < end else { return false }
        let isGlobal = (start..<min(end, start + 12)).contains { place in
            file[place] == .global || file.text(place) == "dispatch_get_global_queue"
                || file.text(place).hasPrefix("DISPATCH_TARGET_QUEUE_DEFAULT")
        }
        return !isGlobal && file[start] != .nil && !["NULL", "Nil"].contains(file.text(start))
    }

    /// The first token of each argument of a call.
    func argumentStarts(_ index: Int) -> [Int] {
        guard file[index + 1] == .openParen, file[index + 2] != .closeParen else { return [] }
        var result = [index + 2]
        var position = index + 2
        let end = arguments(index).upperBound
        while position < end {
            switch file[position] {
            case .openParen, .openSquare, .openBrace: position = max(file.partner(position), position) + 1
            case .comma:
                result.append(position + 1)
                position += 1
            default: position += 1
            }
        }
        return result
    }

    /// Whether no member access follows a value, and no message is sent to the value.
    private func isLast(_ index: Int) -> Bool {
        switch file[index + 1] {
        case .openParen: file[file.partner(index + 1) + 1] != .dot
        case .closeSquare where file.language == .objectiveC:
            !file.isWord(index + 2) || file[file.partner(index + 1) - 1] != .openSquare
        default: file[index + 1] != .dot
        }
    }

    func isCalled(_ index: Int) -> Bool {
        file[index + 1] == .openParen || file[index + 1] == .openBrace || isCalledForEach(index)
            || file.language == .objectiveC && (file[index + 1] == .colon || file[index + 1] == .closeSquare)
    }

    /// Whether a method is the argument of `forEach`, which calls it.
    private func isCalledForEach(_ index: Int) -> Bool {
        guard file[index + 1] == .closeParen else { return false }
        return file[file.partner(index + 1) - 1] == .forEach
    }

    private func receiver(_ index: Int) -> Word {
        var position = index - 2
        if file[position] == .closeParen { position = file.partner(position) - 1 }
        return file.word(position)
    }

    /// The tokens of the arguments of a call or a message, at most 80 of them.
    func arguments(_ index: Int) -> Range<Int> {
        let open = index + 1
        if file.language == .objectiveC, file[open] == .colon {
            var end = open
            while end < min(file.tokens.count, open + 80), file[end] != .semicolon { end += 1 }
            return open..<end
        }
        guard file[open] == .openParen else { return open..<open }
        return open..<max(open, min(file.partner(open), open + 80))
    }

    /// The tokens of the labels of a call's arguments.
    func labels(_ index: Int) -> [Int] {
        guard file[index + 1] == .openParen else { return [] }
        var result: [Int] = []
        var position = index + 2
        let end = arguments(index).upperBound
        while position < end {
            switch file[position] {
            case .openParen, .openSquare, .openBrace: position = max(file.partner(position), position + 1)
            default:
                let isFirst = file[position - 1] == .openParen || file[position - 1] == .comma
                if isFirst, file.isWord(position), file[position + 1] == .colon { result.append(position) }
                position += 1
            }
        }
        return result
    }

    /// The last name of the first argument, as in `dispatch_resume(self.queue)`.
    private func firstArgumentName(_ index: Int) -> String {
        guard file[index + 1] == .openParen else { return "" }
        let starts = argumentStarts(index)
        let end = starts.count > 1 ? starts[1] - 2 : file.partner(index + 1) - 1
        return file.isWord(end) ? file.text(end) : ""
    }

    /// Whether the closure of a call, behind its arguments or among them, is empty.
    private func hasEmptyClosure(_ index: Int) -> Bool {
        var open = file[index + 1] == .openParen ? file.partner(index + 1) + 1 : index + 1
        if file.language == .objectiveC { open = file.partner(index + 1) - 2 }
        return file[open] == .openBrace && file.partner(open) == open + 1
    }

    /// Whether the arguments of a call follow, or the only argument of a message.
    private func hasOpening(_ index: Int) -> Bool {
        file[index + 1] == .openParen
            || file.language == .objectiveC && file[index + 1] == .colon && file[index + 3] == .closeSquare
    }

    private func firstArgument(_ index: Int) -> Word {
        file[index + 3] == .colon ? file.word(index + 4) : file.word(index + 2)
    }

    /// Whether a token is in a loop of its function, or in the closure of a `forEach`.
    func isInLoop(_ index: Int) -> Bool {
        for place in file.outline.scopes(around: index) {
            let scope = file.outline.scopes[place]
            switch scope.kind {
            case .function, .type, .file: return false
            case .closure: return file[scope.open - 1] == .forEach
            case .block:
                switch file[scope.head] {
                case .for, .while, .repeat: return true
                default: break
                }
            case .deferred: break
            }
        }
        return false
    }

    /// The methods whose arguments are the closures around a token, innermost first.
    func methodsAround(_ index: Int) -> [Int] {
        file.outline.scopes(around: index).compactMap { place in
            let scope = file.outline.scopes[place]
            guard scope.kind == .closure else { return nil }
            var method = scope.open - 1
            if file[method] == .closeParen { method = file.partner(method) - 1 }
            if file[method] == .openParen { method -= 1 }
            if file[method] == .colon { method = file.callee(ofArgument: method) ?? method }
            return file.isWord(method) ? method : nil
        }
    }

    /// Whether a token is in a closure that a queue executes, and the innermost such queue is not the main one.
    private func isInQueueBlock(_ index: Int) -> Bool {
        let method = methodsAround(index).first { method in
            switch file[method] {
            case .async, .asyncAfter, .addOperation: return true
            default: return false
            }
        }
        return method.map { receiver($0) != Word(.main) } ?? false
    }

    /// Whether a token is in a class that inherits from `Operation`, or in an extension of one.
    func isInOperation(_ index: Int) -> Bool {
        codeBase.systemType(file.typeName(around: index))?.isKind(of: .operation) ?? false
    }

    /// The variable before a member, if the value before the member is a plain variable.
    func identity(ofMember index: Int) -> Identity? {
        guard file[index - 1] == .dot else { return nil }
        var name = index - 2
        while file[name] == .question || file[name] == .exclamation { name -= 1 }
        guard file.isWord(name) else { return nil }
        return identity(ofVariable: name)
    }

    /// The variable that a name denotes, with or without `self.`.
    func identity(ofVariable index: Int) -> Identity? {
        let word = file.word(index)
        let owner = file.typeName(around: index)
        if file[index - 1] == .dot {
            guard file[index - 2] == .selfValue || file[index - 2] == .question && file[index - 3] == .selfValue else {
                guard let type = typer.receiver(ofDot: index - 1) else { return nil }
                return Identity(owner: type.type.name, scope: -1, name: word)
            }
            return Identity(owner: owner, scope: -1, name: word)
        }
        if let local = declarations.local(word, at: index, in: file) {
            let isGlobal = file.outline.scopes[local.scope].kind == .file
            return Identity(owner: Vocabulary.none, scope: isGlobal ? -1 : local.scope, name: word)
        }
        return Identity(owner: owner, scope: -1, name: word)
    }

    /// The variable that a value created at an index initialises: `let queue = DispatchQueue(…)`.
    func identity(ofMade index: Int) -> Identity? {
        var name = index - 1
        if file[name] == .dot { name -= 2 }
        guard file[name] == .equal else { return nil }
        name -= 1
        // `let queue: DispatchQueue = …`
        var declared = name
        while declared > index - 12, file[declared] != .colon, file[declared] != .let, file[declared] != .var {
            declared -= 1
        }
        if file[declared] == .colon, file[declared - 2] == .let || file[declared - 2] == .var { name = declared - 1 }
        guard file.isWord(name) else { return nil }
        let scope = file.outline.scopes[file.outline.scope(of: name)]
        if file[name - 1] == .let || file[name - 1] == .var {
            switch scope.kind {
            case .type: return Identity(owner: scope.name, scope: -1, name: file.word(name))
            case .file: return Identity(owner: Vocabulary.none, scope: -1, name: file.word(name))
            default:
                return Identity(owner: Vocabulary.none, scope: file.outline.scope(of: name), name: file.word(name))
            }
        }
        return identity(ofVariable: name)
    }
}
