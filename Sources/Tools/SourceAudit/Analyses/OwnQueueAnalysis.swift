/// A wait for a queue, in code that the same queue executes.
extension FileMatcher {
    /// Whether a queue executes one block at a time; unknown if another file creates it.
    private enum Width {
        case one, many, unknown
    }

    mutating func analyzeOwnQueues() {
        let uses = Dictionary(grouping: sites.filter { $0.type == .dispatchQueue && isOwn($0.token) }, by: \.identity)
        var widths: [Identity: Width] = [:]
        for index in file.tokens.indices where codeBase.systemType(file.word(index)) == .dispatchQueue {
            guard file[index + 1] == .openParen, let identity = identity(ofMade: index) else { continue }
            let isWide = arguments(index).contains { file[$0] == .concurrent || file.text($0) == "attributes" }
            widths[identity] = isWide ? .many : .one
        }
        let waits = waits(for: Set(uses.keys))
        for (identity, sites) in uses {
            let (width, waits) = (widths[identity] ?? .unknown, waits[identity] ?? [])
            for wait in waits {
                guard let method = executor(of: wait, identity), excludes(width, wait, method) else { continue }
                add("dispatch-sync-own-queue", wait, width == .unknown ? .likely : .certain)
            }
            if width == .one { addCallers(of: waits, among: sites, identity) }
        }
    }

    /// The calls of `sync`, and of functions whose names begin with it, by queue.
    private func waits(for queues: Set<Identity>) -> [Identity: [Int]] {
        var waits: [Identity: [Int]] = [:]
        for index in file.tokens.indices where file[index - 1] == .dot && file.text(index).hasPrefix("sync") {
            guard isCalled(index), isOwn(index), let identity = identity(ofMember: index), queues.contains(identity)
            else {
                continue
            }
            waits[identity, default: []].append(index)
        }
        return waits
    }

    /// Whether the queue belongs to the same object: it is named alone, or behind `self` or the type.
    private func isOwn(_ method: Int) -> Bool {
        var name = method - 2
        while file[name] == .question || file[name] == .exclamation { name -= 1 }
        guard file[name - 1] == .dot else { return true }
        var owner = name - 2
        while file[owner] == .question || file[owner] == .exclamation { owner -= 1 }
        guard file[owner - 1] != .dot else { return false }
        return file[owner] == .selfValue || file[owner] == .selfType || file.text(owner) == "strongSelf"
            || file.word(owner) == file.typeName(around: method)
    }

    /// Whether a wait cannot begin before the block around it ends. On a concurrent queue, only a barrier excludes
    /// others.
    private func excludes(_ width: Width, _ wait: Int, _ method: Int) -> Bool {
        width != .many || [wait, method].contains { arguments($0).contains { file[$0] == .barrier } }
    }

    /// The method of the queue whose closure executes a token; nil if a closure between them is executed later.
    private func executor(of token: Int, _ identity: Identity) -> Int? {
        for place in file.outline.scopes(around: token) where file.outline.scopes[place].kind == .function {
            // A function in the closure is executed when it is called.
            return executor(of: token, identity, after: file.outline.scopes[place].open)
        }
        return executor(of: token, identity, after: -1)
    }

    private func executor(of token: Int, _ identity: Identity, after start: Int) -> Int? {
        for method in methodsAround(token) where method > start {
            if file[method] == .sync || file[method] == .async, isOwn(method),
                self.identity(ofMember: method) == identity
            {
                return method
            }
            switch file[method] {
            case .forEach, .map, .compactMap, .flatMap, .filter, .first, .contains, .allSatisfy, .sorted, .reduce,
                .withLock:
                continue
            default: return nil
            }
        }
        return nil
    }

    /// Finds calls of members that wait for a queue, in a closure that the queue executes, in the same type.
    private mutating func addCallers(of waits: [Int], among sites: [Site], _ identity: Identity) {
        guard identity.scope < 0, identity.owner != Vocabulary.none else { return }
        let functions = Set(waits.compactMap { waitingFunction($0) })
        let names = Dictionary(grouping: functions) { file.outline.scopes[$0].name }
        for site in sites where site.member == Word(.sync) || site.member == Word(.async) {
            let open = file[site.token + 1] == .openBrace ? site.token + 1 : file.partner(site.token + 1) + 1
            guard file[open] == .openBrace else { continue }
            for index in open..<min(file.partner(open), open + 400) where file.isWord(index) {
                guard let functions = names[file.word(index)], functions.count == 1,
                    isCall(index, of: functions[0]), executor(of: index, identity) == site.token
                else { continue }
                add("dispatch-sync-own-queue", index, .likely)
            }
        }
    }

    /// The function of a type that waits in its own body, unless it asks first on which queue it runs.
    private func waitingFunction(_ wait: Int) -> Int? {
        guard let place = file.outline.scopes(around: wait).first(where: { isExecutedLater($0) }),
            file.outline.scopes[place].kind == .function
        else { return nil }
        let scope = file.outline.scopes[place]
        let asks = (scope.open..<max(scope.open, wait)).contains { index in
            ["getSpecific", "isMainThread", "isOnQueue", "dispatchPrecondition"].contains(file.text(index))
        }
        return asks ? nil : place
    }

    private func isExecutedLater(_ place: Int) -> Bool {
        file.outline.scopes[place].kind == .function || file.outline.scopes[place].kind == .closure
    }

    /// Whether a name calls or reads a member of the same object, which has only this one of the name.
    private func isCall(_ index: Int, of function: Int) -> Bool {
        let scope = file.outline.scopes[function]
        let isOwn =
            file[index - 1] != .dot || file[index - 2] == .selfValue
            || file[index - 2] == .question && file[index - 3] == .selfValue
        guard isOwn, file[index - 1] != .let, file[index - 1] != .var, file[index - 1] != .func,
            file[index + 1] != .colon, declarations.local(file.word(index), at: index, in: file) == nil,
            file.typeName(around: index) == file.typeName(around: scope.open), !hasOverloads(scope)
        else { return false }
        guard file[scope.head] == .func else { return file[index + 1] != .openParen && file[index + 1] != .equal }
        // A property can have the name of a function.
        return (file[index + 1] == .openParen || file[index + 1] == .openBrace) && fits(index, scope.head + 1)
    }

    /// Whether the arguments of a call have the labels and the number of a function's parameters.
    private func fits(_ call: Int, _ declared: Int) -> Bool {
        let parameters = argumentStarts(declared)
        let names = parameters.map { file.word($0) }
        guard labels(call).allSatisfy({ names.contains(file.word($0)) }) else { return false }
        var end = file.partner(call + 1) + 1
        while file[end] == .openBrace, !file.isFirstOnLine(end) { end = file.partner(end) + 1 }
        let count = argumentStarts(call).count + (file[end - 1] == .closeBrace ? 1 : 0)
        let hasDefaults = arguments(declared).contains { file[$0] == .equal }
        return count == parameters.count || hasDefaults && count < parameters.count
    }

    /// Whether the file has several functions of a function's name.
    private func hasOverloads(_ scope: Scope) -> Bool {
        var count = 0
        for other in file.outline.scopes where other.kind == .function && other.name == scope.name {
            if file[other.head] == .func || file[other.head] == .var { count += 1 }
        }
        return count > 1
    }
}
