extension Typer {
    /// The type of a value's member, and the index behind the member and its arguments.
    func member(of owner: Result?, _ index: Int, _ depth: Int) -> (Result?, Int) {
        let name = file.word(index)
        var end = index + 1
        let isCall = file[end] == .openParen
        if isCall { end = file.partner(end) + 1 }
        let closure = file[end] == .openBrace && !file.isFirstOnLine(end) ? end : nil
        if let closure, isCall || isClosureMethod(index) { end = file.partner(closure) + 1 }
        guard let owner else { return (mapped(index, closure, depth), end) }
        if owner.type.layers > 0 { return (collectionMember(owner, index, closure, depth), end) }
        if let found = ownMember(name, owner.type.name, isCall: isCall, depth) {
            return (Result(type: found.type, isCertain: owner.isCertain && found.isCertain), end)
        }
        guard let system = codeBase.systemType(owner.type.name),
            let member = codeBase.systemMember(name, of: system)
        else { return (mapped(index, closure, depth), end) }
        return (Result(type: member, isCertain: owner.isCertain), end)
    }

    /// The result type of `map` on any value, from its closure.
    private func mapped(_ index: Int, _ closure: Int?, _ depth: Int) -> Result? {
        guard file[index] == .map || file[index] == .compactMap else { return nil }
        let argument = file[index + 1] == .openParen && file[index + 2] == .openBrace ? index + 2 : nil
        guard let open = closure ?? argument, let made = type(ofClosure: open, depth + 1) else { return nil }
        return Result(type: made.type.collection, isCertain: made.isCertain)
    }

    private func isClosureMethod(_ index: Int) -> Bool {
        switch file[index] {
        case .forEach, .map, .compactMap, .flatMap, .filter, .allSatisfy, .contains, .first, .sorted, .last: true
        default: false
        }
    }

    /// The type of a collection's member: an element, a part of the collection, or a new collection.
    private func collectionMember(_ owner: Result, _ index: Int, _ closure: Int?, _ depth: Int) -> Result? {
        switch file[index] {
        case .first, .last: return Result(type: owner.type.element, isCertain: owner.isCertain)
        case .filter, .sorted, .prefix, .suffix, .dropFirst, .dropLast, .reversed, .values, .enumerated, .lazy:
            return owner
        default:
            switch file.text(index) {
            case "removeFirst", "removeLast", "popLast", "popFirst", "removeValue", "randomElement", "min", "max":
                return Result(type: owner.type.element, isCertain: owner.isCertain)
            default: return mapped(index, closure, depth)
            }
        }
    }

    /// The type of a member that a type of the code base declares or inherits.
    func ownMember(_ name: Word, _ owner: Word, isCall: Bool, _ depth: Int) -> Result? {
        guard depth < Self.deepest else { return nil }
        var owner = owner
        for _ in 0..<16 {
            if let found = memberInFile(name, owner, depth) { return found }
            if let type = codeBase.member(name, of: owner) { return Result(type: type) }
            if isCall, let type = codeBase.result(of: name, in: owner) { return Result(type: type) }
            guard let parent = codeBase.superclass(of: owner), parent != owner else { return nil }
            owner = parent
        }
        return nil
    }

    /// The type of a member that this file declares; its initial value may determine it.
    private func memberInFile(_ name: Word, _ owner: Word, _ depth: Int) -> Result? {
        for scope in file.typeScopes[owner] ?? [] {
            guard let places = declarations.variablesByKey[.init(scope: scope, name: name)], let place = places.last
            else { continue }
            if let type = type(of: declarations.variables[place], depth + 1) { return type }
        }
        return nil
    }
}
