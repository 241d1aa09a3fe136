/// Replaces a lock with a `Mutex` or an `OSAllocatedUnfairLock` if every use has a counterpart.
struct LockRewriter {
    /// The methods by which code uses a type as a lock.
    struct Form {
        let type: String
        /// The methods that begin and end a critical section.
        let acquire: String?
        let release: String?
        /// The method that takes a closure.
        let scoped: String?
    }

    let context: FixContext
    let form: Form

    var file: SourceFile { context.file }
    var matcher: FileMatcher { context.matcher }

    func change(_ made: Int) throws(Refusal) -> Rewrite.Change {
        let variable = try DeclaredVariable(madeAt: made, in: file)
        try check(variable, made)
        let isMutex = context.lock == .mutex
        let end = Int(file.tokens[file.partner(made + 1)].start) + 1
        let value = Int(file.tokens[variable.start].start)..<end
        var edits = [Edit(range: value, text: isMutex ? "Mutex(())" : "OSAllocatedUnfairLock()")]
        if let type = variable.type {
            edits.append(
                Edit(range: file.range(type...type), text: isMutex ? "Mutex<Void>" : "OSAllocatedUnfairLock<Void>"))
        }
        if variable.isVariable {
            edits.append(Edit(range: file.range(variable.index - 1...variable.index - 1), text: "let"))
        }
        let uses = try uses(of: variable)
        edits += isMutex ? try usesEdits(uses) : try renamedUses(uses)
        return Rewrite.Change(edits: edits, visibleName: variable.isPrivate ? nil : variable.name)
    }

    private func check(_ variable: DeclaredVariable, _ made: Int) throws(Refusal) {
        guard file[made] == .initializer || file.text(made) == form.type else {
            throw Refusal("it is created as \(file.text(made))")
        }
        if let type = variable.type, file.text(type) != form.type {
            throw Refusal("it is declared as \(file.text(type))")
        }
        guard !variable.isUnderCondition else { throw Refusal("it is declared under #if") }
        let kept: Set<String> = ["private", "fileprivate", "internal", "static", "final"]
        if let other = variable.modifiers.subtracting(kept).sorted().first { throw Refusal("it is \(other)") }
        guard file.lineBreak != nil else { throw Refusal("the file has different breaks at the ends of its lines") }
        let key = Declarations.Key(scope: variable.scope, name: variable.name)
        guard matcher.declarations.variablesByKey[key]?.count == 1 else { throw Refusal("it is declared twice") }
        guard case .member(let owner, let isStatic) = variable.place else { return }
        let declarations = (file.typeScopes[owner] ?? []).filter { file.kind(ofTypeScope: $0) != .extension }
        guard declarations.count <= 1 else { throw Refusal("several types of the file have the same name as its type") }
        guard
            context.lock == .unfairLock || isStatic
                || [.class, .actor].contains(file.kind(ofTypeScope: variable.scope))
        else {
            throw Refusal("a structure that holds a Mutex cannot be copied")
        }
    }

    // MARK: Uses

    /// The tokens that name the variable, except the token in its declaration.
    private func uses(of variable: DeclaredVariable) throws(Refusal) -> [Int] {
        var uses: [Int] = []
        for index in file.tokens.indices
        where file.isWord(index) && file.word(index) == variable.name && index != variable.index {
            if try isUse(index, of: variable) { uses.append(index) }
        }
        return uses
    }

    private func isUse(_ index: Int, of variable: DeclaredVariable) throws(Refusal) -> Bool {
        if file[index - 1] == .dot { return try isMemberUse(index, of: variable) }
        switch file[index - 1] {
        case .var where file.isInProtocol(index): throw Refusal("a protocol requires it in line \(file.line(index))")
        case .let, .var, .func, .case: return false
        default: break
        }
        if file[index + 1] == .colon {
            let before = file[index - 1]
            if before == .openParen || before == .comma || file.isWord(index - 1) { return false }
        }
        if let local = matcher.declarations.local(variable.name, at: index, in: file) {
            return local.index == variable.index
        }
        guard case .member(let owner, _) = variable.place else { return false }
        return try isOwned(index, by: owner, variable)
    }

    private func isMemberUse(_ index: Int, of variable: DeclaredVariable) throws(Refusal) -> Bool {
        // A lock is not a function: `.lock(` calls a method of another value.
        if file[index + 1] == .openParen { return false }
        guard case .member(let owner, _) = variable.place else { return false }
        let base = index - 2
        if file[base - 1] != .dot {
            if file[base] == .selfValue || file[base] == .selfType { return try isOwned(index, by: owner, variable) }
            if file.word(base) == owner, file.isWord(base) { return true }
        }
        if let type = matcher.typer.receiver(ofDot: index - 1)?.type.name {
            guard type == owner else { return false }
            throw Refusal("it is used through another value, in line \(file.line(index))")
        }
        let isValue =
            file.isWord(base)
            || [.closeParen, .closeSquare, .closeBrace, .question, .exclamation, .backslash].contains(file[base])
        guard isValue else { return false }
        throw Refusal("line \(file.line(index)) may use it")
    }

    /// Whether a member without an explicit value belongs to the owner.
    private func isOwned(_ index: Int, by owner: Word, _ variable: DeclaredVariable) throws(Refusal) -> Bool {
        let type = file.typeName(around: index)
        if type == owner { return true }
        if type == Vocabulary.none || matcher.codeBase.declares(variable.name, in: type) { return false }
        throw Refusal("line \(file.line(index)) may use it")
    }

    // MARK: Edits

    private func usesEdits(_ uses: [Int]) throws(Refusal) -> [Edit] {
        var edits: [Edit] = []
        var released: Set<Int> = []
        for use in uses {
            let member = file.text(use + 2)
            guard file[use + 1] == .dot else { throw Refusal("it is passed on, in line \(file.line(use))") }
            if member == form.acquire, isCallWithoutArguments(use + 2) {
                edits += try section(from: use, uses, &released)
            } else if member == form.scoped {
                edits += try closure(of: use)
            } else if member != form.release || !isCallWithoutArguments(use + 2) {
                throw Refusal("\(member) has no counterpart, in line \(file.line(use))")
            }
        }
        for use in uses where file.text(use + 2) == form.release && !released.contains(use) {
            throw Refusal("it is released elsewhere, in line \(file.line(use))")
        }
        return edits
    }

    /// Renames the methods of an `OSAllocatedUnfairLock`, which has the same ones. The thread that locks it has to unlock
    /// it, so each function must do both, and must not suspend.
    private func renamedUses(_ uses: [Int]) throws(Refusal) -> [Edit] {
        var edits: [Edit] = []
        var balance: [Int: (acquired: Int, released: Int)] = [:]
        for use in uses {
            let line = file.line(use)
            guard file[use + 1] == .dot else { throw Refusal("it is passed on, in line \(line)") }
            let member = file.text(use + 2)
            let executor = matcher.executor(use)
            let new: String
            if member == form.scoped, file[use + 3] == .openBrace || argument(ofCall: use) != nil {
                new = "withLockUnchecked"
            } else if member == form.acquire, isCallWithoutArguments(use + 2) {
                new = "lock"
                balance[executor, default: (0, 0)].acquired += 1
            } else if member == form.release, isCallWithoutArguments(use + 2) {
                new = "unlock"
                balance[executor, default: (0, 0)].released += 1
            } else {
                throw Refusal("\(member) has no counterpart, in line \(line)")
            }
            if new != member { edits.append(Edit(range: file.range(use + 2...use + 2), text: new)) }
            if member == form.scoped, file[use + 3] == .openBrace, let annotation = try discarding(use) {
                edits.append(try parameter(ofClosure: use + 3, annotation, isMutex: false))
            }
        }
        for (executor, count) in balance {
            let scope = file.outline.scopes[executor]
            guard count.acquired > 0, count.released > 0 else {
                throw Refusal("one function locks it and another unlocks it, in line \(file.line(scope.open))")
            }
            guard !(scope.open..<scope.close).contains(where: { file[$0] == .await }) else {
                throw Refusal("a function that locks it suspends, in line \(file.line(scope.open))")
            }
        }
        return edits
    }

    /// The token of a local closure that a call has as its only argument, as in `lock.withLock(body)`.
    private func argument(ofCall use: Int) -> Int? {
        let name = use + 4
        guard file[use + 3] == .openParen, file.isWord(name), file[name + 1] == .closeParen,
            file[name + 2] != .openBrace,
            matcher.declarations.local(file.word(name), at: name, in: file) != nil
        else { return nil }
        return name
    }

    private func isCallWithoutArguments(_ index: Int) -> Bool {
        file[index + 1] == .openParen && file[index + 2] == .closeParen && file[index + 3] != .dot
    }

    /// The first token of the expression that names the lock: `self` of `self.lock`.
    func start(of use: Int) -> Int { file[use - 1] == .dot ? use - 2 : use }

    /// Rewrites `lock.lock()` and its release: a `defer` after it, or an `unlock()` in the same scope.
    private func section(from use: Int, _ uses: [Int], _ released: inout Set<Int>) throws(Refusal) -> [Edit] {
        let line = file.line(use)
        guard file.isFirstOnLine(start(of: use)) else { throw Refusal("line \(line) contains more than the lock()") }
        var next = use + 5
        if file[next] == .semicolon { next += 1 }
        if file[next] == .defer {
            guard let release = uses.first(where: { $0 > next && start(of: $0) == next + 2 }),
                file.text(release + 2) == form.release, file.partner(next + 1) == release + 5
            else { throw Refusal("the defer of line \(line) does more than unlock") }
            released.insert(release)
            return try CriticalSection(self, use, behind: release + 5).edits()
        }
        let scope = file.outline.scope(of: use)
        let following = uses.first { $0 > use && file.outline.scope(of: $0) == scope }
        guard let release = following, file.text(release + 2) == form.release else {
            throw Refusal("no unlock() follows in the scope of line \(line)")
        }
        released.insert(release)
        return try CriticalSection(self, use, upTo: release).edits()
    }

    /// Rewrites `lock.withLock { … }`. The closure of a `Mutex` takes the state as its parameter.
    private func closure(of use: Int) throws(Refusal) -> [Edit] {
        let (open, line) = (use + 3, file.line(use))
        let argument = argument(ofCall: use)
        guard file[open] == .openBrace || argument != nil else {
            throw Refusal("line \(line) does not pass a closure literal")
        }
        let close = file.partner(open)
        let result = try ResultType(ofCallFrom: start(of: use), to: close, in: file)
        if context.needsSendableResults, !result.isSendable(in: context) {
            throw Refusal("the compiler requires a Sendable result in line \(line)")
        }
        var edits = [Edit(range: file.range(use + 2...use + 2), text: "withLock")]
        if form.scoped == "withLock" { edits.removeAll() }
        if let argument {
            let before = start(of: use) - 1
            let isConverted = file[before] == .question || file[before] == .exclamation
            let canThrow = file[isConverted ? before - 1 : before] == .try
            let call = "\(canThrow ? "try " : "")\(file.text(argument))()"
            return edits + [Edit(range: file.range(open...close), text: " { _ in \(call) }")]
        }
        return edits + [try parameter(ofClosure: open, try discarding(use) ?? "")]
    }

    /// The type annotation for a closure whose result the old method discards and the new one does not; nil if neither
    /// does. `sync` of a queue has an overload that discards the result.
    private func discarding(_ use: Int) throws(Refusal) -> String? {
        let (open, close) = (use + 3, file.partner(use + 3))
        let result = try ResultType(ofCallFrom: start(of: use), to: close, in: file)
        if form.scoped == "sync", result.isDiscarded || result.isVoid {
            let annotation = file.discardingAnnotation(open + 1..<close)
            return annotation.isEmpty ? nil : annotation
        }
        guard context.codeBase.hasDiscardableWithLock, result.isDiscarded else { return nil }
        guard !returns(from: open, to: close) else { throw Refusal("line \(file.line(use)) discards a result") }
        return " -> Void"
    }

    private func returns(from open: Int, to close: Int) -> Bool {
        (open..<close).contains {
            file[$0] == .return && file[$0 - 1] != .dot && matcher.executor($0) == matcher.executor(open)
        }
    }

    /// Adds the parameter of a `Mutex` to a closure without parameters; for another lock, only the annotation.
    private func parameter(
        ofClosure open: Int, _ annotation: String, isMutex: Bool = true
    ) throws(Refusal) -> Edit {
        let parameter = isMutex ? "_" : "()"
        var first = open + 1
        if file[first] == .openSquare,
            file[file.partner(first) + 1] == .in || file[file.partner(first) + 1] == .openParen
        {
            first = file.partner(first) + 1
        }
        if file[first] == .in {
            let start = Int(file.tokens[first].start)
            return Edit(range: start..<start, text: "\(parameter)\(annotation) ")
        }
        if file[first] == .openParen, file[first + 1] == .closeParen,
            [.arrow, .in, .throws].contains(file[first + 2])
        {
            return Edit(range: file.range(first...first + 1), text: isMutex ? "(_)" : "()")
        }
        let head = first..<min(first + 8, file.tokens.count)
        let hasSignature = head.contains { index in
            file[index] == .in && file.line(index) == file.line(open) && file[index - 1] != .dot
                && file.outlinedOpen(before: index) == open
        }
        guard !hasSignature || head.contains(where: { file[$0] == .for }) else {
            throw Refusal("the closure in line \(file.line(open)) has parameters")
        }
        let end = Int(file.tokens[open].start) + 1
        let isSpaced =
            end < file.bytes.count && (file.bytes[end] == UInt8(ascii: " ") || Byte.isNewline(file.bytes[end]))
        return Edit(range: end..<end, text: " \(parameter)\(annotation) in" + (isSpaced ? "" : " "))
    }
}
