/// The code that executes a token.
enum Execution: Equatable {
    /// An `async` function, a task, or a method of an actor.
    case asynchronous
    /// A synchronous function, by its scope.
    case synchronous(Int)
    /// A closure that other code executes, or no function.
    case elsewhere
}

/// Finds waits that block a thread of the cooperative pool: the calls that lead from an `async` function, a task or an
/// actor to a function that waits.
struct PoolAnalysis {
    private struct Call {
        let callee: Word
        /// The type whose member is called; nil if names do not show it.
        let owner: Word?
        let caller: CodeBase.MemberKey
        let isAsynchronous: Bool
    }

    private struct Site: Hashable {
        let file: Int
        let token: Int
    }

    /// The longest path that is followed.
    private static let longestPath = 6

    private var callers: [Word: [Call]] = [:]
    /// The synchronous functions that contain waits.
    private var functions: [Site: CodeBase.MemberKey] = [:]
    private let codeBase: CodeBase

    init(_ codeBase: CodeBase) { self.codeBase = codeBase }

    /// Adds the calls of a file and its waits in synchronous functions.
    mutating func add(_ matcher: FileMatcher) {
        let file = matcher.file
        guard file.language == .swift else { return }
        for finding in matcher.findings where finding.pattern.id == PoolAnalysis.pattern {
            guard case .synchronous(let scope) = matcher.execution(of: finding.token) else { continue }
            functions[Site(file: file.number, token: finding.token)] = key(scope, file)
        }
        for index in file.tokens.indices where codeBase.functions.contains(file.word(index)) && file.isWord(index) {
            guard file[index + 1] == .openParen || file[index + 1] == .openBrace, file[index - 1] != .func else {
                continue
            }
            let execution = matcher.execution(of: index)
            let scope: Int? =
                switch execution {
                case .asynchronous: file.outline.enclosing(.function, of: index)
                case .synchronous(let scope): scope
                case .elsewhere: nil
                }
            guard let scope else { continue }
            let call = Call(
                callee: file.word(index), owner: owner(index, file), caller: key(scope, file),
                isAsynchronous: execution == .asynchronous)
            callers[call.callee, default: []].append(call)
        }
    }

    static let pattern = "ported-blocking-pool"

    private func key(_ scope: Int, _ file: SourceFile) -> CodeBase.MemberKey {
        let scope = file.outline.scopes[scope]
        return CodeBase.MemberKey(owner: file.typeName(around: scope.open), name: scope.name)
    }

    /// The type of the receiver of a call: the enclosing type, or a type that is named.
    private func owner(_ index: Int, _ file: SourceFile) -> Word? {
        guard file[index - 1] == .dot else { return file.typeName(around: index) }
        var receiver = index - 2
        while file[receiver] == .question || file[receiver] == .exclamation { receiver -= 1 }
        if file[receiver] == .selfValue || file[receiver] == .selfType { return file.typeName(around: index) }
        return file.beginsUpper(receiver) && file[receiver - 1] != .dot ? file.word(receiver) : nil
    }

    /// The findings, without waits that no async code reaches. The context of each finding is the path to it.
    func reached(_ findings: [Finding]) -> [Finding] {
        var paths: [CodeBase.MemberKey: [CodeBase.MemberKey]?] = [:]
        return findings.compactMap { finding in
            guard finding.pattern.id == Self.pattern,
                let function = functions[Site(file: finding.file, token: finding.token)]
            else { return finding }
            let path = paths[function] ?? self.path(to: function)
            paths[function] = .some(path)
            guard let path else { return nil }
            var finding = finding
            finding.context = path.map(name).joined(separator: " → ")
            return finding
        }
    }

    private func name(_ key: CodeBase.MemberKey) -> String {
        [key.owner, key.name].map { codeBase.vocabulary[$0] }.filter { !$0.isEmpty }.joined(separator: ".")
    }

    /// The shortest path of calls from async code to a synchronous function.
    private func path(to function: CodeBase.MemberKey) -> [CodeBase.MemberKey]? {
        var paths = [[function]]
        var seen: Set<CodeBase.MemberKey> = [function]
        for _ in 0..<Self.longestPath {
            var longer: [[CodeBase.MemberKey]] = []
            for path in paths {
                for call in callers[path[0].name] ?? [] where calls(call, path[0]) {
                    if call.isAsynchronous { return [call.caller] + path }
                    if seen.insert(call.caller).inserted { longer.append([call.caller] + path) }
                }
            }
            paths = longer
        }
        return nil
    }

    /// Whether a call means a function: a member of the same type or of a base, or the only function of its name.
    private func calls(_ call: Call, _ function: CodeBase.MemberKey) -> Bool {
        guard let owner = call.owner else { return codeBase.owners(of: function.name) == [function.owner] }
        if owner == function.owner { return true }
        if function.owner == Vocabulary.none { return !codeBase.declares(function.name, in: owner) }
        return codeBase.chain(from: owner).contains { $0.supers.contains { $0.name == function.owner } }
    }
}

extension FileMatcher {
    /// Finds blocking calls in async code. Those in synchronous functions are found too if `collectsWaits` is set;
    /// then `PoolAnalysis` removes the ones that no async code reaches.
    mutating func analyzePool() {
        guard file.language == .swift else { return }
        let idle = idleQueues()
        for finding in findings where isWait(finding) {
            if finding.pattern.id == "dispatch-sync", let queue = identity(ofMember: finding.token),
                idle.contains(queue)
            {
                continue
            }
            switch execution(of: finding.token) {
            case .asynchronous: add(PoolAnalysis.pattern, finding.token, .likely)
            case .synchronous: if collectsWaits { add(PoolAnalysis.pattern, finding.token, .likely) }
            case .elsewhere: break
            }
        }
    }

    /// The queues that this file creates, and to which it submits nothing: their `sync` is a short critical section.
    private func idleQueues() -> Set<Identity> {
        let made = findings.filter { $0.pattern.id.hasPrefix("dispatch-queue-") }.compactMap {
            identity(ofMade: $0.token)
        }
        return Set(made).subtracting(sites.lazy.filter { $0.member == Word(.async) }.map(\.identity))
    }

    /// Whether a finding holds its thread until other code runs. A short critical section does not.
    private func isWait(_ finding: Finding) -> Bool {
        switch finding.pattern.id {
        case "semaphore-wait", "semaphore-limit-used", "semaphore-producer", "lock-condition-used", "work-item-notify":
            file[finding.token] == .wait
        case "group-wait", "operation-wait", "queue-wait", "queue-add-and-wait", "queue-add-batches", "dispatch-sync",
            "dispatch-main-sync", "dispatch-barrier-sync", "dispatch-sync-empty", "thread-sleep",
            "thread-sleep-until", "source-process", "ported-blocking-wait":
            file[finding.token] != .signal && file.text(finding.token) != "makeProcessSource"
        default: false
        }
    }

    /// The code that executes a token.
    func execution(of index: Int) -> Execution {
        for place in file.outline.scopes(around: index) {
            let scope = file.outline.scopes[place]
            switch scope.kind {
            case .block, .deferred: continue
            case .type, .file: return .elsewhere
            case .function: return execution(ofFunction: place)
            case .closure:
                if isInline(scope) { continue }
                return isAsynchronous(scope) ? .asynchronous : .elsewhere
            }
        }
        return .elsewhere
    }

    private func execution(ofFunction place: Int) -> Execution {
        let scope = file.outline.scopes[place]
        var depth = 0
        for index in scope.head..<max(scope.head, scope.open) {
            switch file[index] {
            case .openParen: depth += 1
            case .closeParen: depth -= 1
            case .async where depth == 0: return .asynchronous
            default: break
            }
        }
        if file.outline.scopes[scope.parent].kind == .function { return .synchronous(place) }
        let isOfActor = file[scope.head] == .func && codeBase.isActor(file.typeName(around: scope.open))
        // A static method of an actor is not isolated.
        let isFree =
            file.attributes(before: scope.head).contains("nonisolated") || file.hasModifier(.static, before: scope.head)
        return isOfActor && !isFree ? .asynchronous : .synchronous(place)
    }

    /// The method before a closure that is its argument.
    private func method(before scope: Scope) -> Int {
        var method = scope.open - 1
        if file[method] == .closeParen { method = file.partner(method) - 1 }
        if file[method] == .openParen { method -= 1 }
        return method
    }

    /// Whether a closure is executed where it is written.
    private func isInline(_ scope: Scope) -> Bool {
        if scope.close < file.tokens.count, file[scope.close + 1] == .openParen { return true }
        switch file[method(before: scope)] {
        case .forEach, .map, .compactMap, .flatMap, .filter, .allSatisfy, .contains, .first, .sorted, .reduce,
            .withLock,
            .sync:
            return true
        default: return Self.inlineMethods.contains(file.text(method(before: scope)))
        }
    }

    private static let inlineMethods: Set<String> = [
        "autoreleasepool", "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
        "withUnsafeThrowingContinuation", "withTaskGroup", "withThrowingTaskGroup", "withTaskCancellationHandler",
        "withExtendedLifetime", "withUnsafeBytes", "withUnsafeMutableBytes",
    ]

    /// Whether a closure is a task's, an operation's of this library, or awaits.
    private func isAsynchronous(_ scope: Scope) -> Bool {
        let method = method(before: scope)
        switch file.text(method) {
        case "Task": return true
        case "detached", "immediate": return file.text(method - 2) == "Task"
        case "addTask", "addTaskUnlessCancelled", "withTaskOperationQueue": return true
        default:
            let place = file.outline.scope(of: scope.open)
            return (scope.open..<min(scope.close, file.tokens.count)).contains { index in
                file[index] == .await && closure(around: index) == place
            }
        }
    }

    /// The innermost closure or function around a token.
    private func closure(around index: Int) -> Int? {
        file.outline.scopes(around: index).first { place in
            let kind = file.outline.scopes[place].kind
            return kind == .closure || kind == .function
        }
    }
}
