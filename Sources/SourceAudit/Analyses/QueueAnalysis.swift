extension FileMatcher {
    /// What a Dispatch queue is for, by what is done with it.
    mutating func analyzeDispatchQueues() {
        let sitesByIdentity = Dictionary(grouping: sites.filter { $0.type == .dispatchQueue }, by: \.identity)
        for finding in findings
        where ["dispatch-queue-serial", "dispatch-queue-concurrent"].contains(finding.pattern.id) {
            guard let identity = identity(ofMade: finding.token), let sites = sitesByIdentity[identity] else {
                continue
            }
            let members = Set(sites.map(\.member))
            let id: String
            if finding.pattern.id == "dispatch-queue-concurrent" {
                guard hasWriters(sites) else { continue }
                id = "dispatch-queue-readers"
            } else if members.contains(Word(.sync)) {
                id = members.contains(Word(.async)) ? "dispatch-queue-value" : "dispatch-queue-lock"
            } else {
                continue
            }
            remove({ $0.id == finding.pattern.id }, at: finding.token)
            add(id, finding.token, finding.certainty)
        }
        analyzeOwnQueue()
    }

    /// Whether writers are alone beside readers. A barrier that is only waited for is the end of a batch.
    private func hasWriters(_ sites: [Site]) -> Bool {
        let (barriers, others) = sites.reduce(into: ([Site](), [Site]())) { parts, site in
            let isBarrier = findings(at: site.token).contains { $0.pattern.id == "dispatch-barrier" }
            if isBarrier { parts.0.append(site) } else { parts.1.append(site) }
        }
        if barriers.contains(where: { $0.member == Word(.async) }) { return true }
        return !barriers.isEmpty && others.contains { $0.member == Word(.sync) }
    }

    /// A call that waits for a queue, in a closure which that queue executes.
    private mutating func analyzeOwnQueue() {
        // Where a queue is waited for, and the functions that do.
        var waits: [Identity: [(token: Int, function: Int)]] = [:]
        for index in file.tokens.indices where file[index - 1] == .dot && file.text(index).hasPrefix("sync") {
            guard isCalled(index), let identity = identity(ofMember: index) else { continue }
            waits[identity, default: []].append((index, file.outline.enclosing(.function, of: index) ?? 0))
        }
        let queues = Set(sites.lazy.filter { $0.type == .dispatchQueue }.map(\.identity))
        for (identity, waits) in waits where queues.contains(identity) {
            for wait in waits {
                if methodsAround(wait.token).contains(where: { executes($0, identity) }) {
                    add("dispatch-sync-own-queue", wait.token, .certain)
                }
            }
            addCallers(of: Set(waits.map(\.function)), waits.map(\.token), identity)
        }
    }

    private func executes(_ method: Int, _ identity: Identity) -> Bool {
        guard file[method] == .sync || file[method] == .async else { return false }
        return self.identity(ofMember: method) == identity
    }

    /// Members that wait for a queue, used in a closure of that queue in the same type.
    private mutating func addCallers(of functions: Set<Int>, _ waits: [Int], _ identity: Identity) {
        guard identity.scope < 0, identity.owner != Vocabulary.none else { return }
        let names = Set(functions.filter { $0 > 0 }.map { file.outline.scopes[$0].name })
        for wait in waits where executes(wait, identity) {
            let open = file[wait + 1] == .openBrace ? wait + 1 : file.partner(wait + 1) + 1
            guard file[open] == .openBrace else { continue }
            for index in open..<min(file.partner(open), open + 400) where names.contains(file.word(index)) {
                let isOwn = file[index - 1] != .dot || file[index - 2] == .selfValue
                if isOwn, file.isWord(index), declarations.local(file.word(index), at: index, in: file) == nil {
                    add("dispatch-sync-own-queue", index, .likely)
                }
            }
        }
    }

    /// Work items that are replaced before they run, and timers that are made anew.
    mutating func analyzeWorkItemsAndTimers() {
        let stops = sites.filter { site in
            site.member == Word(.cancel) && site.type == .workItem
                || site.member == Word(.invalidate) && site.type == .timer
        }
        let stopped = Dictionary(grouping: stops, by: \.identity)
        for finding in findings where finding.pattern.id == "work-item" || finding.pattern.id == "timer" {
            var start = finding.token
            if finding.pattern.id == "timer", file[start - 1] == .dot { start -= 2 }
            guard let identity = identity(ofMade: start), let stops = stopped[identity] else { continue }
            let function = file.outline.enclosing(.function, of: finding.token)
            guard stops.contains(where: { file.outline.enclosing(.function, of: $0.token) == function }) else {
                continue
            }
            let repeats = labels(finding.token).contains { file[$0] == .repeats && file[$0 + 2] == .true }
            if finding.pattern.id == "timer", repeats { continue }
            remove({ $0.id == finding.pattern.id }, at: finding.token)
            add(finding.pattern.id == "timer" ? "timer-rearmed" : "work-item-replaced", finding.token, .likely)
        }
    }
}
