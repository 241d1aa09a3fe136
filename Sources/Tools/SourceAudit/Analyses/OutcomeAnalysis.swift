extension FileMatcher {
    /// Finds operations of our queues whose body can fail, and whose result is not used.
    ///
    /// `addOperation` has a discardable result, so the compiler does not warn. `_ = queue.addOperation { … }` discards
    /// the result explicitly and is not reported.
    mutating func analyzeOutcomes() {
        guard file.language == .swift, declarations.imports.contains(Word(.taskOperations)) else { return }
        let observed = observedQueues()
        for index in file.tokens.indices where file[index] == .addOperation && file[index - 1] == .dot {
            guard let body = closureOfStatement(index), canFail(body),
                typer.systemType(typer.receiver(ofDot: index - 1)) == .taskQueue
            else { continue }
            if let identity = identity(ofMember: index), observed.contains(identity) { continue }
            if isScopeThatThrows(index - 2) { continue }
            add("ported-ignored-outcome", index, .likely)
        }
    }

    /// The queues whose events this file observes. The events report the outcomes of all operations.
    private func observedQueues() -> Set<Identity> {
        let members: Set<String> = ["events", "addObserver"]
        return Set(
            file.tokens.indices.lazy.filter { file[$0 - 1] == .dot && members.contains(file.text($0)) }
                .compactMap { identity(ofMember: $0) })
    }

    /// Whether a queue is the parameter of a scope that throws the failures of its operations.
    private func isScopeThatThrows(_ queue: Int) -> Bool {
        let opens = file.outline.scopes(around: queue).map { file.outline.scopes[$0].open }
        guard let open = opens.first(where: { file[$0 + 2] == .in && file.text($0 + 1) == file.text(queue) })
        else { return false }
        let call = file[open - 1] == .closeParen ? file.partner(open - 1) - 1 : open - 1
        guard file[call] == .withTaskOperationQueue else { return false }
        return !(call..<open).contains { file.text($0) == "failures" && file.text($0 + 3) == "ignore" }
    }

    /// The opening brace of the trailing closure of a call, if the call is a statement whose value is not used.
    private func closureOfStatement(_ method: Int) -> Int? {
        var open = method + 1
        if file[open] == .openParen { open = file.partner(open) + 1 }
        guard file[open] == .openBrace, let start = typer.chainStart(before: method - 1) else { return nil }
        let end = file.partner(open) + 1
        guard isEndOfStatement(end), isBeginOfStatement(start), !isResult(start, end) else { return nil }
        return open
    }

    private func isEndOfStatement(_ index: Int) -> Bool {
        switch file[index] {
        case nil where !file.tokens.indices.contains(index): true
        case .dot, .question, .exclamation, .colon, .openSquare: false
        case .closeBrace, .semicolon: true
        default: file.isWord(index) && file.isFirstOnLine(index) && file[index + 1] != .colon && !isCast(index)
        }
    }

    private func isCast(_ index: Int) -> Bool { file[index] == .as || file[index] == .is }

    private func isBeginOfStatement(_ index: Int) -> Bool {
        switch file[index - 1] {
        case .openBrace, .semicolon, .closeBrace, .in: true
        case .closeParen, .closeSquare: file.isFirstOnLine(index)
        default: index == 0 || file.isFirstOnLine(index) && isEndOfExpression(index - 1)
        }
    }

    /// Whether an expression ends at a token.
    private func isEndOfExpression(_ index: Int) -> Bool {
        guard file.isWord(index) || file.isString(index) else { return false }
        switch file[index] {
        case .return, .try, .await, .throw, .in, .as, .is: return false
        default: return true
        }
    }

    /// Whether the only expression of its scope is that scope's value.
    private func isResult(_ start: Int, _ end: Int) -> Bool {
        let scope = file.outline.scopes[file.outline.scope(of: start)]
        guard scope.kind != .file else { return false }
        let isFirst = file[start - 1] == .openBrace || file[start - 1] == .in && scope.kind == .closure
        guard isFirst, end == scope.close else { return false }
        switch scope.kind {
        case .closure: return file[scope.open - 1] != .forEach
        case .function: return file[scope.head] != .func || (scope.head..<scope.open).contains { file[$0] == .arrow }
        case .block: return isExpression(scope)
        case .file, .type, .deferred: return false
        }
    }

    /// Whether `if` or `switch` may be an expression: it is the value of a declaration, or the first statement of its
    /// scope.
    private func isExpression(_ scope: Scope) -> Bool {
        var head = scope.head
        while file[head] == .else, file[head - 1] == .closeBrace {
            head = file.outline.scopes[file.outline.scope(of: file.partner(head - 1) + 1)].head
        }
        guard file[head] == .if || file[head] == .switch else { return false }
        switch file[head - 1] {
        case .equal, .return, .in, .openBrace: return true
        default: return false
        }
    }

    /// Whether a closure can throw an error other than `CancellationError`.
    private func canFail(_ open: Int) -> Bool {
        (open + 1..<max(open + 1, file.partner(open))).contains { index in
            switch file[index] {
            case .throw: !isHandled(index, within: open)
            case .try:
                file[index + 1] != .question && file[index + 1] != .exclamation && !isOnlyCancelled(index)
                    && !isHandled(index, within: open)
            default: false
            }
        }
    }

    /// Whether a `try` belongs to a call of `Task.sleep` or `Task.checkCancellation`.
    private func isOnlyCancelled(_ index: Int) -> Bool {
        let call = file[index + 1] == .await ? index + 2 : index + 1
        return file.text(call) == "Task" && ["sleep", "checkCancellation"].contains(file.text(call + 2))
    }

    /// Whether an error stays inside the closure: a `catch` handles the error, or an inner closure or function throws
    /// it.
    private func isHandled(_ index: Int, within open: Int) -> Bool {
        for place in file.outline.scopes(around: index) {
            let scope = file.outline.scopes[place]
            if scope.open == open { return false }
            if scope.kind == .closure || scope.kind == .function { return true }
            if file[scope.head] == .do, file[scope.close + 1] == .catch { return true }
        }
        return true
    }
}
