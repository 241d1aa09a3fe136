/// The functions and closures that wait for a semaphore, and those that signal it.
struct SemaphoreUse {
    var waits: Set<Int> = []
    var signals: Set<Int> = []

    var isEmpty: Bool { waits.isEmpty && signals.isEmpty }
}

extension FileMatcher {
    private enum Role: String {
        case lock, limit, signal
    }

    /// Determines the purpose of each semaphore. A lock waits and signals in one function. A limit has an initial value
    /// above 1. A signal has the initial value 0.
    mutating func analyzeSemaphores() {
        var roles: [Identity: Role] = [:]
        let uses = Dictionary(grouping: sites.filter { $0.type == .semaphore }, by: \.identity).mapValues { sites in
            SemaphoreUse(
                waits: Set(sites.filter { $0.member == Word(.wait) }.map { executor($0.token) }),
                signals: Set(sites.filter { $0.member == Word(.signal) }.map { executor($0.token) }))
        }
        for index in file.tokens.indices where file.isWord(index) {
            guard codeBase.systemType(file.word(index)) == .semaphore, file[index + 1] == .openParen,
                file[index - 1] != .func
            else { continue }
            let identity = identity(ofMade: index)
            let use = identity.flatMap { uses[$0] } ?? SemaphoreUse()
            guard let role = role(ofMade: index, use) else {
                add("semaphore-unknown", index, .certain)
                continue
            }
            add("semaphore-\(role.rawValue)", index, use.isEmpty ? .likely : .certain)
            if let identity { roles[identity] = role }
        }
        for site in sites where site.type == .semaphore {
            guard let role = roles[site.identity], role != .signal else { continue }
            rename(site, to: isOfProducer(site, role, uses) ? "semaphore-producer" : "semaphore-\(role.rawValue)-used")
        }
    }

    private func role(ofMade index: Int, _ use: SemaphoreUse) -> Role? {
        let value = file[index + 3] == .colon ? file.text(index + 4) : file.text(index + 2)
        if value == "0" { return .signal }
        if use.isEmpty { return value == "1" ? .lock : Int(value) == nil ? nil : .limit }
        if value == "1", !use.waits.isDisjoint(with: use.signals) { return .lock }
        return .limit
    }

    /// The function or closure in which a token is executed.
    func executor(_ index: Int) -> Int {
        for place in file.outline.scopes(around: index) {
            switch file.outline.scopes[place].kind {
            case .function, .closure: return place
            default: break
            }
        }
        return 0
    }

    /// Names the purpose of the semaphore in the finding of a wait or a signal.
    private mutating func rename(_ site: Site, to pattern: String) {
        guard let old = findings(at: site.token).first(where: { $0.pattern.family == .semaphores }) else { return }
        remove({ $0.family == .semaphores }, at: site.token)
        add(pattern, site.token, old.certainty)
    }

    /// Whether one function waits for a limit repeatedly, and other functions signal it. The first function produces
    /// work for the other functions.
    private func isOfProducer(_ site: Site, _ role: Role, _ uses: [Identity: SemaphoreUse]) -> Bool {
        guard role == .limit, site.member == Word(.wait), isInLoop(site.token), let use = uses[site.identity] else {
            return false
        }
        return !use.signals.isEmpty && !use.signals.contains(executor(site.token))
    }
}
