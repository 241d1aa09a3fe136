/// The types of the receivers of Objective-C messages.
extension Typer {
    /// The type of the receiver of the message whose selector begins at an index, and the message's opening bracket;
    /// nil if no message has its selector there.
    func receiver(ofMessage selector: Int) -> (type: Result?, open: Int)? {
        switch file[selector + 1] {
        case .colon, .closeSquare: break
        default: return nil
        }
        var start = selector - 1
        switch file[start] {
        case .closeSquare, .closeParen:
            start = file.partner(start)
            if file[start] == .openParen, file.isWord(start - 1) { start -= 1 }
        default:
            guard file.isWord(start) else { return nil }
            while file[start - 1] == .dot, file.isWord(start - 2) { start -= 2 }
        }
        guard start < selector, file[start - 1] == .openSquare else { return nil }
        return (type(ofObject: start, before: selector, 0), start - 1)
    }

    /// The type of the expression from one token up to another, without the latter.
    private func type(ofObject start: Int, before end: Int, _ depth: Int) -> Result? {
        guard depth < Self.deepest else { return nil }
        if file[start] == .openSquare { return type(ofMessage: start, depth) }
        guard file.isWord(start), file[start + 1] != .openParen else { return nil }
        if let found = type(from: start, to: end, depth: depth) { return found }
        // The instance variable of a property.
        guard end == start + 1, file.text(start).hasPrefix("_") else { return nil }
        let name = file.vocabulary[String(file.text(start).dropFirst())]
        return ownMember(name, file.typeName(around: start), isCall: false, depth)
    }

    /// The type of a message's result: the type of a new value, or of the receiver's member.
    private func type(ofMessage open: Int, _ depth: Int) -> Result? {
        var selector = open + 1
        if file[selector] == .openSquare {
            selector = file.partner(selector) + 1
        } else {
            while file[selector + 1] == .dot { selector += 2 }
            selector += 1
        }
        guard file.isWord(selector), let owner = type(ofObject: open + 1, before: selector, depth + 1) else {
            return nil
        }
        switch file[selector] {
        case .alloc, .new, .selfValue, .initializer: return Result(type: owner.type, isCertain: owner.isCertain)
        default:
            if file.text(selector).hasPrefix("init") { return owner }
            let name = file.word(selector)
            if let system = codeBase.systemType(owner.type.name) {
                return codeBase.systemMember(name, of: system).map { Result(type: $0, isCertain: owner.isCertain) }
            }
            return ownMember(name, owner.type.name, isCall: true, depth)
        }
    }
}
