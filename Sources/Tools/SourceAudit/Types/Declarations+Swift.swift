extension Declarations {
    mutating func readSwift(_ file: SourceFile) {
        for index in file.tokens.indices where file.tokens[index].kind == .word {
            guard let term = Term(file.tokens[index].word), file[index - 1] != .dot else { continue }
            switch term {
            case .class, .struct, .enum, .actor, .extension, .protocol: readType(file, index)
            case .let, .var: readVariable(file, index)
            case .for: readLoop(file, index)
            case .func, .initializer, .subscript: readFunction(file, index)
            case .typealias: readAlias(file, index)
            case .associatedtype: hidden.insert(file.word(index + 1))
            case .import: readImport(file, index)
            case .case: readCase(file, index)
            case .in: readParameters(file, index)
            default: break
            }
        }
    }

    /// Reads `case name(Type)` of an enumeration, or the pattern `case .name(let variable)`.
    private mutating func readCase(_ file: SourceFile, _ index: Int) {
        var name = index + 1
        while file[name] == .let || file[name] == .var { name += 1 }
        let isPattern = file[name] == .dot || file.beginsUpper(name) && file[name + 1] == .dot
        while file[name] == .dot || file[name + 1] == .dot { name += 1 }
        guard file.isWord(name), file[name + 1] == .openParen else { return }
        var value = name + 2
        if file[value + 1] == .colon { value += 2 }
        guard isPattern else {
            if let type = file.type(at: value) { payloads.append((file.word(name), type.type)) }
            return
        }
        while file[value] == .let || file[value] == .var { value += 1 }
        guard file.isWord(value) else { return }
        let scope = file.outline.scope(of: index)
        if file[value + 1] == .as, let type = file.type(at: value + 2) {
            add(file.word(value), .declared(type.type), scope, value)
        } else if file[value + 1] == .closeParen || file[value + 1] == .comma {
            add(file.word(value), .payload(of: file.word(name)), scope, value)
        }
    }

    private mutating func readImport(_ file: SourceFile, _ index: Int) {
        var index = index + 1
        switch file[index] {
        case .class, .struct, .enum, .protocol, .func, .var, .let, .typealias: index += 1
        default: break
        }
        if file.isWord(index) { imports.insert(file.word(index)) }
    }

    private mutating func readAlias(_ file: SourceFile, _ index: Int) {
        guard file.isWord(index + 1), file[index + 2] == .equal else { return }
        guard let type = file.type(at: index + 3) else { return _ = hidden.insert(file.word(index + 1)) }
        // Ignores the type of a function, and a generic type.
        if file[type.end] == .arrow || file[type.end] == .less { return }
        aliases[file.word(index + 1), default: []].append(type.type)
    }

    private mutating func readType(_ file: SourceFile, _ index: Int) {
        guard let scope = file.scope(withHead: index) else { return }
        let open = file.outline.scopes[scope].open
        let kind: TypeDeclaration.Kind =
            switch file[index] {
            case .struct: .structure
            case .enum: .enumeration
            case .actor: .actor
            case .protocol: .protocol
            case .extension: .extension
            default: .class
            }
        var supers: [TypeReference] = []
        var isGeneric = false
        var depth = 0
        var position = index + 1
        var startsSuper = false
        while position < min(open, index + 200) {
            switch file[position] {
            case .less:
                depth += 1
                if supers.isEmpty {
                    isGeneric = true
                    hidden.insert(file.word(position + 1))
                }
            case .greater: depth -= 1
            case .where: position = open
            case .colon where depth == 0: startsSuper = true
            case .comma where depth == 0: startsSuper = true
            default:
                if startsSuper, depth == 0, let type = file.type(at: position) {
                    supers.append(type.type)
                    startsSuper = false
                    position = type.end - 1
                }
            }
            position += 1
        }
        types.append(
            TypeDeclaration(
                name: file.outline.scopes[scope].name, kind: kind, supers: supers, file: file.number, scope: scope,
                index: index + 1, outer: file.typeName(around: index), isOpen: file.hasModifier(.open, before: index),
                isPrivate: file.hasModifier(.private, before: index) || file.hasModifier(.fileprivate, before: index),
                isGeneric: isGeneric, isIsolated: file.isIsolated(index),
                isNonisolated: kind == .actor || file.attributes(before: index).contains("nonisolated")))
    }

    private mutating func readVariable(_ file: SourceFile, _ index: Int) {
        let name = index + 1
        if file[name] == .openParen { return readTuple(file, name) }
        guard file.isWord(name), file[index - 1] != .import else { return }
        let scope = file.outline.scope(of: name)
        let isVariable = file[index] == .var
        // A variable within a pattern is read with its case.
        if file[index - 1] == .openParen, file.isWord(index - 2), file[index - 3] == .dot { return }
        switch file[name + 1] {
        case .colon:
            guard let type = file.type(at: name + 2) else {
                add(file.word(name), .unknown, scope, name, isVariable: isVariable)
                return
            }
            add(file.word(name), .declared(type.type), scope, name, isVariable: isVariable)
            if let accessor = file.scope(withHead: index), case let parent = file.outline.scopes[accessor].parent,
                file.outline.scopes[parent].kind == .type
            {
                addComputed(file.word(name), of: file.outline.scopes[parent].name, type.type)
            }
        case .equal: add(file.word(name), .expression(name + 2), scope, name, isVariable: isVariable)
        case .openBrace, .comma, .else: break  // `if let name {`: the name keeps its previous type
        default: add(file.word(name), .unknown, scope, name, isVariable: isVariable)
        }
    }

    /// Reads `let (a, b) = (x, y)`: each name has the value at its place.
    private mutating func readTuple(_ file: SourceFile, _ open: Int) {
        let close = file.partner(open)
        guard close > open, file[close + 1] == .equal, file[close + 2] == .openParen else { return }
        let isVariable = file[open - 1] == .var
        var value = close + 3
        let end = file.partner(close + 2)
        for name in stride(from: open + 1, to: min(close, open + 32), by: 2) {
            guard file.isWord(name), file[name + 1] == .comma || name + 1 == close, value < end else { return }
            add(file.word(name), .expression(value), file.outline.scope(of: name), name, isVariable: isVariable)
            while value < end, file[value] != .comma {
                switch file[value] {
                case .openParen, .openSquare, .openBrace: value = max(file.partner(value), value) + 1
                default: value += 1
                }
            }
            value += 1
        }
    }

    /// Reads `for name in …`, `for (index, name) in ….enumerated()`, `for case let name as …`.
    private mutating func readLoop(_ file: SourceFile, _ index: Int) {
        var name = index + 1
        while file[name] == .await || file[name] == .try || file[name] == .case || file[name] == .let { name += 1 }
        if file[name] == .openParen, file[name + 2] == .comma, file[name + 4] == .closeParen, file[name + 5] == .in {
            return declareElement(file, name + 3, file.partner(name) + 2, index)
        }
        guard file.isWord(name) else { return }
        if file[name + 1] == .in { declareElement(file, name, name + 2, index) }
        if file[name + 1] == .as, let type = file.type(at: name + 2) {
            add(file.word(name), .declared(type.type), file.scope(withHead: index) ?? 0, name)
        }
    }

    private mutating func declareElement(_ file: SourceFile, _ name: Int, _ sequence: Int, _ head: Int) {
        guard file.isWord(name) else { return }
        add(file.word(name), .element(of: sequence), file.scope(withHead: head) ?? file.outline.scope(of: head), name)
    }

    private mutating func readFunction(_ file: SourceFile, _ index: Int) {
        let isFunction = file[index] == .func
        var open = index + (isFunction ? 2 : 1)
        if file[open] == .question || file[open] == .exclamation { open += 1 }
        if file[open] == .less {
            while open < file.tokens.count, open - index < 100, file[open] != .openParen {
                if file[open] == .less || file[open] == .comma { hidden.insert(file.word(open + 1)) }
                open += 1
            }
        }
        guard file[open] == .openParen else { return }
        // A call of `self.init` is not a declaration; neither is a pattern.
        if !isFunction, file.scope(withHead: index) == nil { return }
        let close = file.partner(open)
        readLabels(file, open + 1, close, isFunction ? file.word(index + 1) : file.typeName(around: index))
        if let scope = file.scope(withHead: index) { readParameterTypes(file, open + 1, close, scope) }
        guard isFunction else { return }
        var result: TypeReference?
        for position in close + 1..<min(close + 8, file.tokens.count) {
            if file[position] == .openBrace { break }
            if file[position] == .arrow {
                result = file.type(at: position + 1)?.type
                break
            }
        }
        addFunction(file.word(index + 1), of: file.typeName(around: index), result)
    }

    /// Reads the labels of a function's parameters, for arguments that name only a member of their type.
    private mutating func readLabels(_ file: SourceFile, _ start: Int, _ end: Int, _ function: Word) {
        var position = start
        while position < min(end, start + 200) {
            let isFirst = position == start || file[position - 1] == .comma
            let colon = file[position + 1] == .colon ? position + 1 : position + 2
            if isFirst, file.isWord(position), file[colon] == .colon, let type = file.type(at: colon + 1) {
                addParameter(file.word(position), of: function, type.type)
            }
            switch file[position] {
            case .openParen, .openSquare, .openBrace: position = max(file.partner(position), position + 1)
            default: position += 1
            }
        }
    }

    /// Reads `label name: Type` behind a comma or the parenthesis.
    private mutating func readParameterTypes(_ file: SourceFile, _ start: Int, _ end: Int, _ scope: Int) {
        var position = start
        while position < min(end, start + 400) {
            if file.isWord(position), file[position + 1] == .colon {
                if let type = file.type(at: position + 2) {
                    add(file.word(position), .declared(type.type), scope, position)
                } else {
                    add(file.word(position), .unknown, scope, position)
                }
            }
            switch file[position] {
            case .openParen, .openSquare, .openBrace: position = max(file.partner(position), position + 1)
            default: position += 1
            }
        }
    }

    /// The parameters of a closure, at its `in`.
    private mutating func readParameters(_ file: SourceFile, _ index: Int) {
        let scope = file.outline.scope(of: index)
        guard file.outline.scopes[scope].kind == .closure else { return }
        let open = file.outline.scopes[scope].open
        guard index - open < 60, index > open else { return }
        var position = open + 1
        if file[position] == .openSquare { position = file.partner(position) + 1 }
        while file[position] == .at { position += 2 }
        if file[position] == .openParen {
            readParameterTypes(file, position + 1, file.partner(position), scope)
            position += 1
        }
        guard file.isWord(position), position < index else { return }
        if file[position + 1] != .colon {
            add(file.word(position), .parameter(ofClosure: open, isSecond: false), scope, position)
        }
        if file[position + 1] == .comma, file.isWord(position + 2), file[position + 3] != .colon {
            add(file.word(position + 2), .parameter(ofClosure: open, isSecond: true), scope, position + 2)
        }
    }
}

extension SourceFile {
    /// Whether a declaration is isolated to a global actor.
    func isIsolated(_ index: Int) -> Bool { attributes(before: index).contains { $0.hasSuffix("Actor") } }

    /// Whether one of the modifiers before a declaration is a given one.
    func hasModifier(_ modifier: Term, before index: Int) -> Bool {
        var position = index - 1
        while position >= 0, index - position < 12 {
            switch self[position] {
            case modifier: return true
            case .public, .open, .final, .static, .private, .internal, .fileprivate, .override, .lazy, .weak, .unowned,
                .nonisolated, .unsafe, .openParen, .closeParen, .class, .mutating, .dynamic, .required, .convenience,
                .set, .indirect:
                position -= 1
            default:
                guard self[position - 1] == .at else { return false }
                position -= 2
            }
        }
        return false
    }
}
