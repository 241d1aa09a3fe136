/// Removes the isolation of code that another queue calls.
struct IsolationRewriter {
    let matcher: FileMatcher

    private var file: SourceFile { matcher.file }

    func change(_ token: Int) throws(Refusal) -> Rewrite.Change {
        let isMethod = file[token - 1] == .func
        return Rewrite.Change(edits: isMethod ? try methods(token - 1) : [try closure(ofCall: token)], visibleName: nil)
    }

    // MARK: Closures

    private func closure(ofCall index: Int) throws(Refusal) -> Edit {
        guard let open = matcher.closure(ofCall: index) else { throw Refusal("it receives no closure literal") }
        // The system calls each closure of these.
        guard file.text(index) != "performChanges" else { throw Refusal("it can have two closures") }
        let signature = ClosureSignature(open, in: file)
        if let other = signature.captures.first(where: { file.text($0) != "self" }) {
            throw Refusal("the closure captures \(file.text(other))")
        }
        let isOwn = matcher.codeBase.functions.contains(file.word(index))
        let known = isOwn ? 0 : Self.sendableParameters[file.text(index)] ?? 0
        var values: [Word: Bool] = [:]
        for (place, parameter) in signature.parameters.enumerated() {
            let isSendable = parameter.type.map(self.isSendable) ?? (place < known)
            values[file.word(parameter.name)] = isSendable
            values[file.vocabulary["$\(place)"]] = isSendable
        }
        if signature.parameters.isEmpty { for place in 0..<4 { values[file.vocabulary["$\(place)"]] = place < known } }
        var body = NonisolatedBody(
            matcher: matcher, body: (signature.end ?? open)..<file.partner(open), values: values,
            isSelfWeak: signature.isSelfWeak)
        try body.check()
        let start = Int(file.tokens[open].start) + 1
        if signature.end != nil {
            let first = Int(file.tokens[open + 1].start)
            return Edit(range: first..<first, text: "@Sendable ")
        }
        let isSpaced = file.bytes[start] == UInt8(ascii: " ") || Byte.isNewline(file.bytes[start])
        return Edit(range: start..<start, text: " @Sendable in" + (isSpaced ? "" : " "))
    }

    /// The number of leading parameters that are `Sendable`: truth values, errors and states.
    private static let sendableParameters = [
        "requestAuthorization": 2, "requestAccess": 2, "evaluatePolicy": 2,
    ]

    // MARK: Methods

    private func methods(_ function: Int) throws(Refusal) -> [Edit] {
        let type = matcher.declarations.types.first { matcher.isolatedCallbacks(of: $0).contains(function) }
        guard let type else { throw Refusal("its type is not found") }
        let scope = file.outline.scopes[type.scope]
        if type.supers.contains(where: { matcher.isPreconcurrency($0.name, scope) }) {
            throw Refusal("the compiler warns of @preconcurrency without an isolated method")
        }
        var edits: [Edit] = []
        for function in matcher.isolatedCallbacks(of: type) {
            guard let own = file.scope(withHead: function) else { throw Refusal("a method has no body") }
            let open = file.outline.scopes[own].open
            var values: [Word: Bool] = [:]
            for parameter in ClosureSignature.parameters(behind: function + 2, in: file) {
                values[file.word(parameter.name)] = parameter.type.map(isSendable) ?? false
            }
            var body = NonisolatedBody(
                matcher: matcher, body: open..<file.partner(open), values: values, isSelfWeak: false)
            try body.check()
            let start = Int(file.tokens[function].start)
            edits.append(Edit(range: start..<start, text: "nonisolated "))
        }
        return edits
    }

    /// Whether the tokens of a type are those of a system type that is `Sendable`, or of an optional one.
    private func isSendable(_ type: Range<Int>) -> Bool {
        !type.isEmpty && type.allSatisfy { file.isWord($0) ? Self.sendable.contains(file.text($0)) : isMark($0) }
    }

    private func isMark(_ index: Int) -> Bool {
        [.openParen, .closeParen, .question].contains(file[index])
    }

    private static let sendable: Set<String> = [
        "any", "Error", "NSError", "Bool", "Int", "Int32", "Int64", "UInt", "UInt32", "UInt64", "Double", "Float",
        "String", "Data", "URL", "Date", "UUID", "TimeInterval", "URLSession", "URLSessionTask", "URLSessionDataTask",
        "URLSessionUploadTask", "URLSessionDownloadTask", "URLSessionWebSocketTask", "URLRequest", "URLResponse",
        "HTTPURLResponse",
    ]
}

/// The part of a closure before `in`.
struct ClosureSignature {
    struct Parameter {
        /// The token of the name inside the body.
        let name: Int
        let type: Range<Int>?
    }

    /// The tokens of the captured names.
    private(set) var captures: [Int] = []
    private(set) var isSelfWeak = false
    private(set) var parameters: [Parameter] = []
    /// The token `in`; nil if the closure has no signature.
    private(set) var end: Int?

    init(_ open: Int, in file: SourceFile) {
        var index = open + 1
        while file[index] == .at { index += 2 }
        let list = index
        if file[index] == .openSquare { index = file.partner(index) + 1 }
        let first = index
        if file[index] == .openParen {
            index = file.partner(index) + 1
        } else {
            while file.isWord(index), file[index] != .in, file[index + 1] == .comma { index += 2 }
            if file.isWord(index), file[index] != .in, file[index + 1] == .in { index += 1 }
        }
        while file[index] == .async || file[index] == .throws { index += 1 }
        if file[index] == .arrow {
            let limit = min(index + 12, file.partner(open))
            while index < limit, file[index] != .in { index += 1 }
        }
        guard file[index] == .in, index < file.partner(open) else { return }
        end = index
        if file[list] == .openSquare {
            for place in list + 1..<max(list + 1, file.partner(list)) where file.isWord(place) {
                if file[place] == .weak { isSelfWeak = true }
                let isMark = file[place] == .weak || file[place] == .unowned || file.text(place) == "unowned"
                if !isMark { captures.append(place) }
            }
        }
        if file[first] == .openParen {
            parameters = Self.parameters(behind: first, in: file)
        } else {
            parameters = stride(from: first, to: index, by: 2).filter { file.isWord($0) && file[$0] != .in }
                .prefix { $0 < index && ($0 == first || file[$0 - 1] == .comma) }
                .map { Parameter(name: $0, type: nil) }
        }
    }

    /// The parameters in a pair of parentheses, with or without types.
    static func parameters(behind open: Int, in file: SourceFile) -> [Parameter] {
        var result: [Parameter] = []
        let close = file.partner(open)
        var index = open + 1
        while index < close {
            var (next, depth) = (index, 0)
            while next < close, file[next] != .comma || depth > 0 {
                switch file[next] {
                case .openParen, .openSquare: next = max(next, file.partner(next))
                case .less: depth += 1
                case .greater: depth -= 1
                default: break
                }
                next += 1
            }
            let colon = (index..<next).first { file[$0] == .colon }
            if index < next {
                result.append(Parameter(name: (colon ?? index + 1) - 1, type: colon.map { $0 + 1..<next }))
            }
            index = next + 1
        }
        return result
    }
}

/// A check that code compiles without the isolation of its surroundings. It accepts few forms: values of the code's
/// parameters, and blocks of the main actor.
struct NonisolatedBody {
    let matcher: FileMatcher
    /// The tokens after the first and before the last of a range.
    let body: Range<Int>
    /// The names of values that the code may use, and whether they are `Sendable`.
    var values: [Word: Bool]
    /// Whether `self` is a weak variable that a block must not capture again.
    var isSelfWeak: Bool

    private var file: SourceFile { matcher.file }

    init(matcher: FileMatcher, body: Range<Int>, values: [Word: Bool], isSelfWeak: Bool) {
        (self.matcher, self.body, self.values, self.isSelfWeak) = (matcher, body, values, isSelfWeak)
    }

    mutating func check() throws(Refusal) {
        var index = body.lowerBound + 1
        while index < body.upperBound {
            if let block = block(at: index) {
                try check(block)
                index = file.partner(block.open) + 1
            } else {
                try check(index)
                index += 1
            }
        }
    }

    private func refusal(_ index: Int, _ reason: String = "may use isolated state") -> Refusal {
        Refusal("\(file.text(index)) in line \(file.line(index)) \(reason)")
    }

    // MARK: Code outside of blocks

    private static let functions: Set<String> = ["print", "debugPrint", "NSLog"]

    private mutating func check(_ index: Int) throws(Refusal) {
        guard file.outline.condition(of: index) == file.outline.condition(of: body.lowerBound) else {
            throw Refusal("there is an #if in line \(file.line(index))")
        }
        if file[index] == .openBrace, file.outline.scopes.contains(where: { $0.open == index && $0.kind == .closure }) {
            throw Refusal("the closure in line \(file.line(index)) may use isolated state")
        }
        guard file.isWord(index) else { return }
        switch file[index] {
        case .let: return try declare(index)
        case .if, .guard, .else, .return, .switch, .case, .default, .nil, .true, .false, .is, .as, .try, .break, .any,
            .underscore, .in:
            return
        default: break
        }
        let (word, text) = (file.word(index), file.text(index))
        if file[index - 1] == .dot { return try checkMember(index) }
        if file[index + 1] == .colon, file[index - 1] == .openParen || file[index - 1] == .comma { return }
        if file[index - 1] == .let || isCastTarget(index) { return }
        if values[word] != nil || isContinuation(index) { return }
        if Self.functions.contains(text), file[index + 1] == .openParen, !matcher.codeBase.functions.contains(word) {
            return
        }
        // `guard let self = self`
        if file[index] == .selfValue, file[index - 1] == .equal, file[index - 2] == .selfValue { return }
        throw refusal(index)
    }

    private func isCastTarget(_ index: Int) -> Bool {
        let mark = file[index - 1] == .question || file[index - 1] == .exclamation
        return file[mark ? index - 2 : index - 1] == .as
    }

    /// Declares a constant, or `self` or another value that is no longer optional.
    private mutating func declare(_ index: Int) throws(Refusal) {
        let name = index + 1
        guard file.isWord(name) else { throw refusal(name) }
        if file[name] == .selfValue {
            let isPlain = file[name + 1] != .equal || file[name + 2] == .selfValue && file[name + 3] != .dot
            guard isPlain, isSelfSendable else { throw refusal(name) }
            isSelfWeak = false
            return
        }
        if file[name + 1] != .equal {
            // `if let error` declares no other value.
            guard values[file.word(name)] != nil else { throw refusal(name) }
            return
        }
        values[file.word(name)] = isSendable(expressionAt: name + 2)
    }

    /// Whether an expression is a comparison, or a value that is `Sendable`.
    private func isSendable(expressionAt start: Int) -> Bool {
        var (isComparison, isValue) = (false, true)
        var index = start
        while index < body.upperBound, index == start || !file.isFirstOnLine(index) {
            switch file[index] {
            case .comma, .openBrace, .else, .semicolon: return isComparison || isValue
            case .equals: isComparison = true
            default: if !isSendableToken(index) { isValue = false }
            }
            index += 1
        }
        return file[index] != .dot && (isComparison || isValue)
    }

    /// Names of members whose values are states.
    private static let states: Set<String> = ["authorizationStatus", "localizedDescription"]

    private func isSendableToken(_ index: Int) -> Bool {
        guard file.isWord(index) else { return true }
        switch file[index] {
        case .true, .false, .nil, .try, .as, .is: return true
        default: break
        }
        if file[index - 1] == .dot { return !file.isWord(index - 2) || Self.states.contains(file.text(index)) }
        if file[index + 1] == .colon { return true }
        if file[index + 1] == .dot, Self.states.contains(file.text(index + 2)) {
            return values[file.word(index)] != nil
        }
        return values[file.word(index)] == true
    }

    /// Members are checked with the value before them. A continuation passes its arguments to its task.
    private func checkMember(_ index: Int) throws(Refusal) {
        guard file.isWord(index - 2), isContinuation(index - 2) else { return }
        guard ["resume", "yield", "finish"].contains(file.text(index)), file[index + 1] == .openParen else {
            throw refusal(index)
        }
        let arguments = index + 2..<max(index + 2, file.partner(index + 1))
        guard arguments.contains(where: { file[$0] == .equals }) || arguments.allSatisfy(isSendableToken) else {
            throw refusal(index - 2, "passes a value that may not be Sendable")
        }
    }

    private static let continuing: Set<String> = [
        "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
        "withUnsafeThrowingContinuation", "AsyncStream", "AsyncThrowingStream",
    ]

    /// Whether a name denotes the continuation of a task or a stream.
    private func isContinuation(_ index: Int) -> Bool {
        guard let variable = matcher.declarations.local(file.word(index), at: index, in: file) else { return false }
        if case .declared(let type) = variable.source {
            return ["CheckedContinuation", "UnsafeContinuation"].contains(file.vocabulary[type.name])
        }
        guard case .parameter(ofClosure: let open, isSecond: false) = variable.source else { return false }
        var callee = open - 1
        if file[callee] == .closeParen { callee = file.partner(callee) - 1 }
        if file[callee] == .greater {
            while callee > 0, file[callee] != .less { callee -= 1 }
            callee -= 1
        }
        return Self.continuing.contains(file.text(callee))
    }

    // MARK: Blocks of the main actor

    private struct Block {
        let open: Int
        /// Whether the compiler refuses a variable that the block captures.
        let isSendable: Bool
    }

    /// The block that begins at a token: `Task { @MainActor in … }` or `DispatchQueue.main.async { … }`.
    private func block(at index: Int) -> Block? {
        guard file.isWord(index), file[index - 1] != .dot else { return nil }
        if file.text(index) == "Task",
            matcher.codeBase.types[file.word(index)]?.contains(where: \.isDeclaration) != true,
            file[index + 1] == .openBrace, file[index + 2] == .at, file[index + 3] == .globalActor
        {
            return Block(open: index + 1, isSendable: false)
        }
        if file.text(index) == "DispatchQueue", file[index + 1] == .dot, file[index + 2] == .main,
            file[index + 3] == .dot, file[index + 4] == .async, file[index + 5] == .openBrace
        {
            return Block(open: index + 5, isSendable: true)
        }
        return nil
    }

    private func check(_ block: Block) throws(Refusal) {
        let close = file.partner(block.open)
        let signature = ClosureSignature(block.open, in: file)
        if let other = signature.captures.first(where: { file.text($0) != "self" }) {
            throw refusal(other, "is captured")
        }
        let hasType = file.outline.enclosing(.type, of: block.open) != nil
        guard !hasType || isSelfSendable else {
            throw Refusal("the type around line \(file.line(block.open)) may not be Sendable")
        }
        let mayUseSelf = !isSelfWeak || !block.isSendable || !signature.captures.isEmpty
        for index in block.open + 1..<close where file.isWord(index) && file[index - 1] != .dot {
            let word = file.word(index)
            if file[index] == .selfValue {
                guard mayUseSelf else { throw refusal(index, "is a captured variable") }
                continue
            }
            if file[index] == .super { throw refusal(index) }
            if file[index + 1] == .colon, file[index - 1] == .openParen || file[index - 1] == .comma { continue }
            if let isSendable = values[word], !file.text(index).hasPrefix("$") {
                guard isSendable else { throw refusal(index, "may not be Sendable") }
                continue
            }
            guard let variable = matcher.declarations.local(word, at: index, in: file),
                file.outline.scopes[variable.scope].kind != .file, variable.index < block.open,
                !isContinuation(index)
            else { continue }
            throw refusal(index, "is a local variable that may not be Sendable")
        }
    }

    // MARK: The type around the code

    /// Whether the type around the code is isolated to the main actor as a whole, so that it is `Sendable`.
    private var isSelfSendable: Bool {
        guard let place = file.outline.enclosing(.type, of: body.lowerBound) else { return true }
        let codeBase = matcher.codeBase
        let name = file.outline.scopes[place].name
        guard let type = codeBase.types[name]?.first(where: \.isDeclaration) else { return false }
        switch type.kind {
        case .structure:
            return isIsolated(type)
                && !file.outline.scopes(around: body.lowerBound).contains { scope in
                    file.hasModifier(.mutating, before: file.outline.scopes[scope].head)
                }
        case .class: break
        default: return false
        }
        let chain = codeBase.chain(from: name)
        guard chain.allSatisfy(isIsolated), let last = chain.last else { return false }
        guard let parent = last.supers.first, codeBase.types[parent.name] == nil else { return true }
        let text = file.vocabulary[parent.name]
        return text == "NSObject" || MainActorTypes.contains(text) || Self.isProtocol(text)
    }

    private func isIsolated(_ type: TypeDeclaration) -> Bool {
        if type.isNonisolated { return false }
        return matcher.codeBase.isIsolated(type.name) || matcher.codeBase.isolatedFiles.contains(type.file)
    }

    private static func isProtocol(_ name: String) -> Bool {
        ["ObservableObject", "Identifiable", "Sendable", "Equatable", "Hashable"].contains(name)
            || ["Delegate", "DataSource", "Protocol", "Providing"].contains { name.hasSuffix($0) }
    }
}
