extension FileMatcher {
    /// A stretch of code that holds a lock.
    private struct Section {
        let identity: Identity
        let token: Int
        let executor: Int
        let function: Int
        let isClosure: Bool
        /// Whether the lock is a condition's. A `Mutex` does not replace it.
        let isCondition: Bool
    }

    mutating func analyzeLocks() {
        let sections = sites.filter { site in
            let isLock = [.lock, .recursiveLock, .condition].contains(site.type)
            return isLock && (site.member == Word(.lock) || site.member == Word(.withLock))
        }.map { site in
            Section(
                identity: site.identity, token: site.token, executor: executor(site.token),
                function: file.outline.enclosing(.function, of: site.token) ?? 0,
                isClosure: site.member == Word(.withLock), isCondition: site.type == .condition)
        }
        addTwoSections(sections)
        addWithoutDefer(sections)
        addCached(sections)
        addCheckedGetters(sections)
        addConditionInOrder()
    }

    private mutating func addTwoSections(_ sections: [Section]) {
        struct Key: Hashable { var identity: Identity, executor: Int }
        let together = Dictionary(grouping: sections) { Key(identity: $0.identity, executor: $0.executor) }
        for sections in together.values where sections.count > 1 && sections[0].executor > 0 {
            for (first, second) in zip(sections, sections.dropFirst()) where isCheckAndAction(first.token, second.token)
            {
                add("lock-two-sections", second.token, .likely)
                break
            }
        }
    }

    /// Whether a branch between two sections of one function depends on the first section, and both sections name the
    /// same variable.
    private func isCheckAndAction(_ first: Int, _ second: Int) -> Bool {
        guard second - first < 400, file.outline.scopes(around: second).contains(file.outline.scope(of: first))
        else { return false }
        let branches = (max(0, first - 8)..<second).contains { index in
            file[index] == .if || file[index] == .guard || file[index] == .while
        }
        let names = Set(contents(ofSection: first).map { file.word($0) })
        return branches && contents(ofSection: second).contains { names.contains(file.word($0)) && isChanged($0) }
    }

    /// Whether a variable is assigned, or a member of it is called.
    private func isChanged(_ index: Int) -> Bool {
        switch file[index + 1] {
        case .equal, .dot, .openSquare: true
        case .plus, .minus: file[index + 2] == .equal
        default: false
        }
    }

    /// The names in a section, which is a closure or extends to its `unlock`.
    private func contents(ofSection token: Int) -> [Int] {
        var end = token + 1
        if file[token] == .withLock {
            if file[end] == .openBrace || file[end] == .openParen { end = file.partner(end) }
        } else {
            while end < min(token + 200, file.tokens.count), file[end] != .unlock { end += 1 }
        }
        let range = token + 1..<max(token + 1, min(end, token + 200, file.tokens.count))
        return range.filter { file.isWord($0) && Term(file.word($0)) == nil }
    }

    private mutating func addWithoutDefer(_ sections: [Section]) {
        let unlocks = sites.filter { $0.member == Word(.unlock) }
        var deferred: Set<Int> = []
        for site in unlocks {
            if file.outline.enclosing(.deferred, of: site.token) != nil { deferred.insert(executor(site.token)) }
        }
        for section in sections where !section.isClosure && !section.isCondition && !deferred.contains(section.executor)
        {
            remove({ $0.id == "lock-used" }, at: section.token)
            add("lock-without-defer", section.token, .certain)
        }
    }

    /// Finds `if let value { return value } … value = …` in a section.
    private mutating func addCached(_ sections: [Section]) {
        for section in sections where section.function > 0 {
            let end = min(file.outline.scopes[section.function].close, section.token + 120)
            for index in section.token..<max(section.token, end) where file[index] == .if && file[index + 1] == .let {
                let name = file.word(index + 2)
                guard file[index + 3] == .openBrace, file[index + 4] == .return, file.word(index + 5) == name else {
                    continue
                }
                let isSet = (index + 5..<max(index + 5, end)).contains {
                    file.word($0) == name && file[$0 + 1] == .equal && file[$0 - 1] != .let
                }
                if isSet { add("lock-cached", section.token, .likely) }
            }
        }
    }

    /// Finds values that one member reads under a lock, and that another member decrements under the same lock.
    private mutating func addCheckedGetters(_ sections: [Section]) {
        var read: [Identity: Set<Word>] = [:]
        for section in sections where section.isClosure {
            let open = section.token + 1
            let isAlone = file[open] == .openBrace && file.partner(open) == open + 2
            if isAlone { read[section.identity, default: []].insert(file.word(open + 1)) }
        }
        for section in sections where section.isClosure {
            let open = section.token + 1
            guard file[open] == .openBrace, let names = read[section.identity] else { continue }
            for index in open..<min(file.partner(open), open + 60)
            where names.contains(file.word(index)) && file[index + 1] == .minus && file[index + 2] == .equal {
                add("lock-two-sections", section.token, .likely)
                break
            }
        }
    }

    /// Finds `while next != number { condition.wait() }`.
    private mutating func addConditionInOrder() {
        for site in sites where site.type == .condition && site.member == Word(.wait) {
            let place = file.outline.scope(of: site.token)
            let scope = file.outline.scopes[place]
            guard scope.kind == .block, file[scope.head] == .while else { continue }
            let compares = (scope.head..<min(scope.open, scope.head + 20)).contains { file.text($0) == "!=" }
            if compares { add("lock-condition-in-order", site.token, .likely) }
        }
    }

    /// Finds threads with a list of work, and threads that share a list of items.
    mutating func analyzeThreads() {
        let waits = Set(sites.filter { $0.type == .condition && $0.member == Word(.wait) }.map(\.identity.owner))
        let lists = Set(
            declarations.variables.lazy.filter { [file] in file.isListOfFunctions($0.index + 2) }
                .map { [file] in file.outline.scopes[$0.scope].name })
        for finding in findings where ["thread-made", "thread-detach"].contains(finding.pattern.id) {
            let type = file.typeName(around: finding.token)
            if type != Vocabulary.none, waits.contains(type) {
                remove({ $0.id == finding.pattern.id }, at: finding.token)
                add("thread-worker", finding.token, .likely)
                if lists.contains(type) { add("thread-list", finding.token, .likely) }
            }
            let end = min(file.tokens.count, finding.token + 40)
            let loops = (finding.token..<end).contains { file[$0] == .while && executor($0) != executor(finding.token) }
            if file.language == .swift, isInLoop(finding.token), loops { add("system-sellers", finding.token, .likely) }
        }
    }

    /// Tables of running operations, home-made queues, and shared managers.
    mutating func analyzeSystems() {
        let taken = takenLists()
        addHomeMadeQueues(taken)
        addTablesOfQueues(taken)
        for variable in declarations.variables where file.outline.scopes[variable.scope].kind == .type {
            guard case .declared(let type) = variable.source, type.layers > 0,
                codeBase.systemType(type.name)?.isKind(of: .operation) == true, file[variable.index + 2] == .openSquare,
                file[variable.index + 4] == .colon
            else { continue }
            add("system-downloader", variable.index, .likely)
        }
        for index in file.tokens.indices where file[index] == .shared && file[index - 1] == .let {
            guard file[index - 2] == .static, let scope = file.outline.enclosing(.type, of: index) else { continue }
            let end = min(file.outline.scopes[scope].close, index + 400, file.tokens.count)
            let loads = (index..<end).contains { ["dataTask", "downloadTask"].contains(file.text($0)) }
            // A file without a group, a semaphore or an operation only wraps a session.
            let batches = findings.contains { [.groups, .semaphores, .operations].contains($0.pattern.family) }
            if loads, batches { add("system-manager", index, .likely) }
        }
    }

    /// Dictionaries of queues and of lists of work.
    private mutating func addTablesOfQueues(_ taken: Set<Word>) {
        for variable in declarations.variables where file.outline.scopes[variable.scope].kind == .type {
            guard file[variable.index + 1] == .colon, file[variable.index + 2] == .openSquare,
                let colon = file.dictionaryColon(variable.index + 3)
            else { continue }
            if taken.contains(variable.name), isListOfWork(variable, at: colon + 1) {
                add("system-list-per-key", variable.index, .likely)
            } else if let type = Typer.declaredType(of: variable, in: file), type.layers == 1,
                let system = codeBase.systemType(type.name), system.isKind(of: .operationQueue)
            {
                add("system-queue-per-key", variable.index, .likely)
            }
        }
    }

    /// Types that keep a list of work, and a lock or a queue for it.
    private mutating func addHomeMadeQueues(_ taken: Set<Word>) {
        let guards: Set<SystemType> = [
            .lock, .recursiveLock, .unfairLock, .unfairLockStructure, .condition, .mutex, .semaphore, .dispatchQueue,
        ]
        let members = Dictionary(grouping: declarations.variables, by: \.scope)
        for type in declarations.types where type.kind == .class || type.kind == .structure {
            if codeBase.systemType(type.name) != nil { continue }
            let variables = members[type.scope] ?? []
            let isGuarded = variables.contains { variable in
                Typer.declaredType(of: variable, in: file).flatMap { codeBase.systemType($0.name) }.map(guards.contains)
                    ?? false
            }
            let hasWork = variables.contains { taken.contains($0.name) && isListOfWork($0, at: $0.index + 2) }
            guard isGuarded, hasWork else { continue }
            add("system-home-made-queue", type.index, .likely)
        }
    }

    /// The names of the lists from which code removes elements one at a time.
    private func takenLists() -> Set<Word> {
        let takes: Set = ["removeFirst", "popFirst", "popLast", "removeLast", "remove", "dropFirst"]
        var names: Set<Word> = []
        for index in file.tokens.indices where file[index - 1] == .dot && takes.contains(file.text(index)) {
            var list = index - 2
            while file[list] == .question || file[list] == .exclamation { list -= 1 }
            while file[list] == .closeSquare, file.partner(list) < list { list = file.partner(list) - 1 }
            names.insert(file.word(list))
        }
        return names
    }

    /// Whether a variable keeps work in the list whose type is at an index: operations or functions. Functions that
    /// receive a result are handlers of other work.
    private func isListOfWork(_ variable: Variable, at list: Int) -> Bool {
        if file[list - 1] == .colon, file.isListOfFunctions(list) {
            var open = list + 1
            while file[open] == .at { open += 2 }
            while file[open + 1] == .openParen { open += 1 }
            return file[open + 1] == .closeParen || file[open + 1] == .at
        }
        guard let type = Typer.declaredType(of: variable, in: file), type.layers > 0 else { return false }
        let system = codeBase.systemType(type.name)
        return system?.isKind(of: .operation) == true || system == .workItem
    }
}
