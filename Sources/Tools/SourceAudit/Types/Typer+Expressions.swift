extension Typer {
    /// The type of the chain of members and calls that begins at an index.
    func type(ofExpression start: Int, depth: Int) -> Result? {
        guard depth < Self.deepest else { return nil }
        var start = start
        while file[start] == .try || file[start] == .await || file[start] == .question || file[start] == .exclamation {
            start += 1
        }
        return type(from: start, to: Int.max, depth: depth + 1)
    }

    /// The type of the chain from one token up to another, without the latter.
    func type(from start: Int, to end: Int, depth: Int) -> Result? {
        guard depth < Self.deepest, var (result, index) = primary(start, depth) else { return nil }
        for _ in 0..<Self.longestChain where index < end {
            switch file[index] {
            case .question, .exclamation: index += 1
            case .openSquare where !file.isFirstOnLine(index):
                if let list = result?.type { result?.type = list.element }
                index = file.partner(index) + 1
            case .openParen where result?.isMetatype ?? false:
                result?.isMetatype = false
                index = file.partner(index) + 1
            case .as:
                let mark = file[index + 1]
                let name = mark == .question || mark == .exclamation ? index + 2 : index + 1
                guard let cast = file.type(at: name) else { return nil }
                result = Result(type: cast.type)
                index = cast.end
            case .dot:
                guard file.isWord(index + 1) else { return nil }
                (result, index) = member(of: result, index + 1, depth)
            default:
                return end == Int.max || index >= end ? result : nil
            }
        }
        return result
    }

    /// The type of the first part of a chain, and the index at which the chain continues. The type is nil if it is
    /// unknown.
    private func primary(_ start: Int, _ depth: Int) -> (Result?, Int)? {
        switch file[start] {
        case .selfValue, .super:
            guard let name = enclosingType(start) else { return nil }
            return (
                Result(type: TypeReference(name: file[start] == .super ? superclass(name) ?? name : name)), start + 1
            )
        case .selfType:
            return enclosingType(start).map { (Result(type: TypeReference(name: $0), isMetatype: true), start + 1) }
        case .openSquare: return list(start, depth)
        case .openParen:
            return (type(ofGroup: start, depth), file.partner(start) + 1)
        case .openBrace: return calledClosure(start, depth)
        case .nil, .true, .false: return nil
        default:
            guard file.isWord(start) else { return file.isString(start) ? (nil, start + 1) : nil }
            if file.beginsUpper(start) || codeBase.systemType(file.word(start)) != nil { return typeName(start) }
            return value(start, depth)
        }
    }

    /// The type of an expression in parentheses. Both values of `condition ? a : b` have one type.
    private func type(ofGroup open: Int, _ depth: Int) -> Result? {
        let close = file.partner(open)
        var index = open + 1
        while index < min(close, open + 40) {
            switch file[index] {
            case .openParen, .openSquare, .openBrace: index = max(file.partner(index), index)
            case .colon where (open..<index).contains(where: { file[$0] == .question && file[$0 + 1] != .dot }):
                return type(ofExpression: index + 1, depth: depth)
            default: break
            }
            index += 1
        }
        return type(ofExpression: open + 1, depth: depth)
    }

    private func enclosingType(_ index: Int) -> Word? {
        let name = file.typeName(around: index)
        return name == Vocabulary.none ? nil : name
    }

    private func superclass(_ name: Word) -> Word? { codeBase.superclass(of: name) }

    /// Reads the name of a type, with its qualification and its generic arguments.
    private func typeName(_ start: Int) -> (Result, Int)? {
        var index = start
        while file[index + 1] == .dot, file.beginsUpper(index + 2) { index += 2 }
        var reference = TypeReference(name: file.word(index))
        var end = index + 1
        if file[end] == .less {
            guard let type = file.type(at: index) else { return (Result(type: reference, isMetatype: true), end) }
            reference = type.type
            var depth = 0
            while end < index + 40 {
                if file[end] == .less { depth += 1 }
                if file[end] == .greater { depth -= 1 }
                end += 1
                if depth == 0 { break }
            }
        }
        if file[end] == .dot, file[end + 1] == .initializer { end += 2 }
        // `Name { … }` creates a value with a closure.
        if file[end] == .openBrace, codeBase.systemType(reference.name) != nil {
            return (Result(type: reference), file.partner(end) + 1)
        }
        return (Result(type: resolve(reference), isMetatype: true), end)
    }

    private func resolve(_ reference: TypeReference) -> TypeReference {
        // An alias of the file hides aliases of other files.
        let own = declarations.aliases[reference.name].flatMap(codeBase.meant)
        guard let alias = own ?? codeBase.alias(reference.name) else { return reference }
        return TypeReference(name: alias.name, layers: alias.layers + reference.layers)
    }

    /// The type of `[a, b]` and `[Type]()`.
    private func list(_ start: Int, _ depth: Int) -> (Result, Int)? {
        let close = file.partner(start)
        if file[close + 1] == .openParen, let type = file.type(at: start) {
            return (Result(type: type.type), file.partner(close + 1) + 1)
        }
        guard close > start + 1, let first = type(ofExpression: start + 1, depth: depth) else { return nil }
        return (Result(type: first.type.collection, isCertain: first.isCertain), close + 1)
    }

    /// `{ … }()`: the type of the first returned value.
    private func calledClosure(_ start: Int, _ depth: Int) -> (Result, Int)? {
        let close = file.partner(start)
        guard file[close + 1] == .openParen, let result = type(ofClosure: start, depth) else { return nil }
        return (result, file.partner(close + 1) + 1)
    }

    /// The type of a closure's result, or of its only expression.
    func type(ofClosure open: Int, _ depth: Int) -> Result? {
        let close = file.partner(open)
        let scope = file.outline.scope(of: open)
        for index in stride(from: close - 1, to: max(open, close - 200), by: -1)
        where file[index] == .return && file.outline.scope(of: index) == scope {
            return type(ofExpression: index + 1, depth: depth)
        }
        var start = open + 1
        for index in open + 1..<max(open + 1, min(close, open + 40)) where file[index] == .in {
            start = index + 1
            break
        }
        return type(ofExpression: start, depth: depth)
    }

    /// The type of a variable, a called function, or a member of the enclosing type.
    private func value(_ start: Int, _ depth: Int) -> (Result?, Int) {
        let isCall = file[start + 1] == .openParen
        let end = isCall ? file.partner(start + 1) + 1 : start + 1
        return (type(ofValue: start, isCall: isCall, depth), end)
    }

    private func type(ofValue start: Int, isCall: Bool, _ depth: Int) -> Result? {
        let name = file.word(start)
        if let variable = declarations.local(name, at: start, in: file) { return type(of: variable, depth) }
        if file.text(start) == "$0" || file.text(start) == "$1" {
            guard let scope = file.outline.enclosing(.closure, of: start) else { return nil }
            return element(ofClosure: file.outline.scopes[scope].open, isSecond: file.text(start) == "$1", depth)
        }
        if let owner = enclosingType(start), let found = ownMember(name, owner, isCall: isCall, depth) { return found }
        if isCall {
            // A function of the file hides functions of the same name in other files.
            let own = declarations.results[CodeBase.MemberKey(owner: Vocabulary.none, name: name)]
            return (own ?? codeBase.result(of: name, in: Vocabulary.none)).map { Result(type: resolve($0)) }
        }
        if let global = codeBase.member(name, of: Vocabulary.none) { return Result(type: global) }
        // No scope declares the name. The type is known if all variables of that name agree.
        return codeBase.anyVariable(name).map { Result(type: $0, isCertain: false) }
    }

    func type(of variable: Variable, _ depth: Int) -> Result? {
        guard depth < Self.deepest else { return nil }
        switch variable.source {
        case .declared(let type): return Result(type: resolve(type))
        case .expression(let start):
            return type(ofExpression: start, depth: depth + 1).map { Result(type: $0.type, isCertain: $0.isCertain) }
        case .element(let start):
            return type(ofExpression: start, depth: depth + 1).flatMap { found in
                found.type.layers == 0 ? nil : Result(type: found.type.element, isCertain: found.isCertain)
            }
        case .parameter(let open, let isSecond): return element(ofClosure: open, isSecond: isSecond, depth + 1)
        case .payload(let name): return codeBase.payload(of: name).map { Result(type: resolve($0)) }
        case .unknown: return nil
        }
    }

    /// The type of a closure's parameter, if the closure receives the elements of a collection, or a timer.
    private func element(ofClosure open: Int, isSecond: Bool, _ depth: Int) -> Result? {
        guard depth < Self.deepest else { return nil }
        var method = open - 1
        if file[method] == .openParen { method -= 1 }
        if file[method] == .closeParen { method = file.partner(method) - 1 }
        if file[method] == .colon { method = file.callee(ofArgument: method) ?? method }
        if file[method] == .withTaskOperationQueue {
            return Result(type: TypeReference(name: codeBase.vocabulary[SystemType.taskQueue.rawValue]))
        }
        let isNamed = file[method] == .initializer || file.text(method) == "scheduledTimer"
        let made = isNamed && file[method - 1] == .dot ? method - 2 : method
        if !isSecond, codeBase.systemType(file.word(made)) == .timer {
            return Result(type: TypeReference(name: file.word(made)))
        }
        guard file[method - 1] == .dot else { return nil }
        switch file[method] {
        case .forEach, .map, .compactMap, .flatMap, .filter, .allSatisfy, .contains, .first, .sorted, .last: break
        case .reduce where isSecond: break
        default: return nil
        }
        let isEnumerated = file[method - 2] == .closeParen && file[file.partner(method - 2) - 1] == .enumerated
        if file[method] != .reduce, file[method] != .sorted, isSecond != isEnumerated { return nil }
        guard let list = receiver(ofDot: method - 1, depth: depth), list.type.layers > 0 else { return nil }
        return Result(type: list.type.element, isCertain: list.isCertain)
    }
}
