/// The statements between `lock()` and `unlock()`, which become the closure of `withLock`.
struct CriticalSection {
    private let rewriter: LockRewriter
    /// The token that names the lock before `lock()`.
    private let use: Int
    /// The tokens of the statements.
    private let body: Range<Int>
    /// The token that names the lock before an `unlock()` in the same scope; nil if a `defer` unlocks.
    private let release: Int?
    private let scope: Int

    private var file: SourceFile { rewriter.file }
    private var line: Int { file.line(use) }
    private var lineBreak: String { file.lineBreak ?? "\n" }

    /// Creates the section from the rest of a scope, behind a `defer` whose closing brace is at `end`.
    init(_ rewriter: LockRewriter, _ use: Int, behind end: Int) throws(Refusal) {
        (self.rewriter, self.use, release) = (rewriter, use, nil)
        let file = rewriter.file
        let first = file[end + 1] == .semicolon ? end + 2 : end + 1
        scope = file.outline.scope(of: use)
        let close = file.outline.scopes[scope].close
        guard first < close, close < file.tokens.count else {
            throw Refusal("no statement follows the lock() in line \(file.line(use))")
        }
        body = first..<close
        guard file.isFirstOnLine(first), file.isFirstOnLine(close) else {
            throw Refusal("other statements are on the line of the lock() in line \(file.line(use))")
        }
    }

    /// The section between `lock()` and `unlock()`.
    init(_ rewriter: LockRewriter, _ use: Int, upTo release: Int) throws(Refusal) {
        (self.rewriter, self.use, self.release) = (rewriter, use, release)
        let file = rewriter.file
        scope = file.outline.scope(of: use)
        body = use + 5..<rewriter.start(of: release)
        let isAlone = file.isFirstOnLine(body.lowerBound) && file.isFirstOnLine(body.upperBound)
        guard isAlone, !body.isEmpty, file.isFirstOnLine(release + 5) || file[release + 5] == .closeBrace else {
            throw Refusal("other statements are on the line of the lock() in line \(file.line(use))")
        }
    }

    // MARK: Edits

    func edits() throws(Refusal) -> [Edit] {
        let call = try call()
        let start = rewriter.start(of: use)
        let receiver = file.joined(start..<use + 1)
        let first = file.line(body.lowerBound)
        let last = file.line(body.upperBound)
        let head = Int(file.tokens[start].start)..<file.lineStart(first)
        try checkText(of: start..<body.lowerBound)
        let inner = file.indentation(ofLine: line)
        var edits = [Edit(range: head, text: "\(call.prefix)\(receiver).withLock { _\(call.annotation) in\(lineBreak)")]
        let unit = indentationUnit(inner)
        for line in first..<last where file.lineStart(line + 1) - file.lineStart(line) > lineBreak.utf8.count {
            edits.append(Edit(range: file.lineStart(line)..<file.lineStart(line), text: unit))
        }
        if let release {
            try checkText(of: body.upperBound..<release + 5)
            edits.append(Edit(range: file.range(body.upperBound...release + 4), text: "}"))
        } else {
            edits.append(Edit(range: file.lineStart(last)..<file.lineStart(last), text: "\(inner)}\(lineBreak)"))
        }
        return edits
    }

    /// Throws if a comment is between replaced tokens, because the edit would delete the comment.
    private func checkText(of tokens: Range<Int>) throws(Refusal) {
        let end = tokens.upperBound < file.tokens.count ? Int(file.tokens[tokens.upperBound].start) : file.bytes.count
        let text = String(decoding: file.bytes[Int(file.tokens[tokens.lowerBound].start)..<end], as: UTF8.self)
        guard text.filter({ !$0.isWhitespace }) == file.joined(tokens) else {
            throw Refusal("there is a comment in line \(line) that the rewrite would remove")
        }
    }

    /// The white space that indents the statements of a closure.
    private func indentationUnit(_ inner: String) -> String {
        let head = file.outline.scopes[scope].open
        let outer = file.indentation(ofLine: file.line(head))
        return inner.hasPrefix(outer) && inner != outer ? String(inner.dropFirst(outer.count)) : "    "
    }

    // MARK: Checks

    private struct Call {
        var prefix = ""
        var annotation = ""
    }

    /// The form of the call of `withLock` that keeps the control flow of the statements, such as `return`.
    private func call() throws(Refusal) -> Call {
        let executor = rewriter.matcher.executor(use)
        guard file[file.outline.scopes[executor].head] != .initializer else {
            throw Refusal("line \(line) of an initializer may run before all properties have values")
        }
        try checkConsumption(in: executor)
        let exits = try exits(of: executor)
        let scope = file.outline.scopes[self.scope]
        var call = Call()
        if exits.canThrow { call.prefix = "try " }
        guard release == nil else {
            guard exits.returns.isEmpty, !exits.canThrow else {
                throw Refusal("the code between lock() and unlock() leaves the scope, after line \(line)")
            }
            call.annotation = file.discardingAnnotation(body)
            return call
        }
        switch scope.kind {
        case .function:
            let result = try checkedResult(exits.canThrow)
            if result.isVoid {
                call.annotation = file.discardingAnnotation(body)
            } else {
                guard !exits.returns.isEmpty else { throw Refusal("no value is returned after line \(line)") }
                call.prefix = "return " + call.prefix
            }
        case .closure:
            guard exits.returns.allSatisfy(isBare) else {
                throw Refusal("the closure around line \(line) returns a value")
            }
            guard !(scope.open..<use).contains(where: { file[$0] == .weak || file[$0] == .unowned }) else {
                throw Refusal("the closure around line \(line) captures self weakly")
            }
            call.annotation = file.discardingAnnotation(body)
        case .block:
            guard exits.returns.isEmpty, file[scope.head] != .switch, file[scope.head] != .do || !exits.canThrow else {
                throw Refusal("the code leaves the block around line \(line)")
            }
            call.annotation = file.discardingAnnotation(body)
        case .file, .type, .deferred: throw Refusal("line \(line) is not in a function")
        }
        return call
    }

    private func checkedResult(_ canThrow: Bool) throws(Refusal) -> ResultType {
        let scope = file.outline.scopes[self.scope]
        let result = ResultType(ofFunction: self.scope, in: file)
        let head = scope.head..<scope.open
        guard !head.contains(where: { file[$0] == .rethrows || file[$0] == .throws && file[$0 + 1] == .openParen }),
            !canThrow || head.contains(where: { file[$0] == .throws })
        else { throw Refusal("the function around line \(line) is not declared with plain throws") }
        guard !(max(0, scope.head - 12)..<scope.head).contains(where: { file.text($0) == "inlinable" }) else {
            throw Refusal("the function around line \(line) is inlinable")
        }
        guard !result.isOpaque(in: file) else { throw Refusal("the function around line \(line) has an opaque result") }
        if rewriter.context.needsSendableResults, !result.isSendable(in: rewriter.context) {
            throw Refusal("the compiler requires a Sendable result after line \(line)")
        }
        return result
    }

    private struct Exits {
        var returns: [Int] = []
        var canThrow = false
    }

    /// The kinds of statements that leave the section.
    private func exits(of executor: Int) throws(Refusal) -> Exits {
        try checkUnsetVariables()
        var exits = Exits()
        for index in body where file[index - 1] != .dot {
            switch file[index] {
            case .ifDirective, .elseifDirective, .elseDirective, .endifDirective:
                throw Refusal("there is an #if after line \(line)")
            case .await, .yield: throw Refusal("the function suspends after line \(line)")
            default: break
            }
            guard rewriter.matcher.executor(index) == executor else { continue }
            switch file[index] {
            case .return: exits.returns.append(index)
            case .break: try checkLoop(index, canBeSwitch: true)
            case .throw: if try leavesDo(index) { exits.canThrow = true }
            case .try:
                if file[index + 1] == .question || file[index + 1] == .exclamation { continue }
                if try leavesDo(index) { exits.canThrow = true }
            case .let, .var, .func, .class, .struct, .enum, .defer, .case, .default:
                if release != nil, file.outline.scope(of: index) == scope {
                    throw Refusal("\(file.text(index)) is declared between lock() and unlock(), after line \(line)")
                }
            default:
                guard file.isWord(index) else { continue }
                let text = file.text(index)
                if text == "continue" { try checkLoop(index, canBeSwitch: false) }
                if text.first == "$", text.dropFirst().allSatisfy(\.isNumber) {
                    throw Refusal("\(text) of the closure around line \(line) would be that of withLock")
                }
            }
        }
        return exits
    }

    /// Throws if the statements may consume a value, because a closure cannot consume a value that it captures.
    private func checkConsumption(in executor: Int) throws(Refusal) {
        let around = file.outline.scopes[executor]
        let words = Array(around.head..<around.open) + Array(body)
        if words.contains(where: { file.isWord($0) && ["consuming", "consume"].contains(file.text($0)) }) {
            throw Refusal("a value may be consumed after line \(line)")
        }
    }

    /// Throws if the statements may initialise a variable, because a closure cannot capture an uninitialised variable.
    private func checkUnsetVariables() throws(Refusal) {
        for place in file.outline.scopes(around: use) {
            let around = file.outline.scopes[place]
            guard around.kind != .type, around.kind != .file else { return }
            for index in around.open..<use where file[index] == .let || file[index] == .var {
                guard file.outline.scope(of: index) == place, isUnset(index) else { continue }
                throw Refusal("\(file.text(index + 1)) may have no value yet in line \(line)")
            }
        }
    }

    /// Whether a declaration has a type and no value.
    private func isUnset(_ declaration: Int) -> Bool {
        let name = declaration + 1
        var next = (file[name] == .openParen ? file.partner(name) : name) + 1
        guard file[next] == .colon, file[declaration - 1] != .case else { return false }
        repeat {
            switch file[next] {
            case .equal, .openBrace: return false
            case .semicolon, .closeBrace: return true
            case .openParen, .openSquare: next = max(file.partner(next), next) + 1
            default: next += 1
            }
        } while next < use && !(file.isFirstOnLine(next) && file[next] != .arrow && file[next - 1] != .arrow)
        return file[next] != .equal && file[next] != .openBrace
    }

    /// Throws if a `break` or `continue` leaves the statements.
    private func checkLoop(_ index: Int, canBeSwitch: Bool) throws(Refusal) {
        let hasLabel = file.isWord(index + 1) && !file.isFirstOnLine(index + 1)
        for place in file.outline.scopes(around: index) {
            guard place != scope, !hasLabel else { break }
            switch file[file.outline.scopes[place].head] {
            case .for, .while, .repeat: return
            case .switch: if canBeSwitch { return }
            default: break
            }
        }
        throw Refusal("the code leaves the critical section in line \(file.line(index))")
    }

    /// Whether an error thrown at an index leaves the statements.
    private func leavesDo(_ index: Int) throws(Refusal) -> Bool {
        for place in file.outline.scopes(around: index) where place != scope {
            let around = file.outline.scopes[place]
            guard around.open >= body.lowerBound else { return true }
            guard around.kind == .block, file[around.head] == .do else { continue }
            var end = around.close
            while file[end + 1] == .catch {
                if file[end + 2] == .openBrace { return false }
                guard let open = (end + 2..<min(end + 40, file.tokens.count)).first(where: { file[$0] == .openBrace })
                else {
                    break
                }
                end = file.partner(open)
            }
            throw Refusal("the do block around line \(file.line(index)) may throw errors that it does not catch")
        }
        return true
    }

    private func isBare(_ index: Int) -> Bool {
        file[index + 1] == .closeBrace || file[index + 1] == .semicolon || file.isFirstOnLine(index + 1)
    }
}

extension SourceFile {
    /// The type annotation that discards the value of a closure with one expression.
    func discardingAnnotation(_ body: Range<Int>) -> String {
        var statements = 0
        var isAssignment = false
        var index = body.lowerBound
        while index < body.upperBound {
            let isContinued = self[index] == .dot || self[index] == .else || self[index] == .catch
            if isFirstOnLine(index) || index == body.lowerBound, !isContinued { statements += 1 }
            if self[index] == .semicolon { statements += 1 }
            if self[index] == .equal { isAssignment = true }
            switch self[index] {
            case .openParen, .openSquare, .openBrace: index = max(index, partner(index)) + 1
            default: index += 1
            }
        }
        switch self[body.lowerBound] {
        case .for, .while, .repeat, .guard, .let, .var, .defer, .do: return ""
        default: return statements == 1 && !isAssignment ? " -> Void" : ""
        }
    }
}
