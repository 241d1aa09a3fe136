extension FileMatcher {
    /// Determines the purpose of each Dispatch queue from its uses.
    mutating func analyzeDispatchQueues() {
        let sitesByIdentity = Dictionary(grouping: sites.filter { $0.type == .dispatchQueue }, by: \.identity)
        let made = findings.filter { ["dispatch-queue-serial", "dispatch-queue-concurrent"].contains($0.pattern.id) }
        let identities = made.map { ($0, identity(ofMade: $0.token)) }
        let uses = queueUses(of: Set(identities.compactMap(\.1)))
        for case (let finding, let identity?) in identities {
            guard let sites = sitesByIdentity[identity], let uses = uses[identity] else { continue }
            guard let id = role(finding, uses, sites) else { continue }
            remove({ $0.id == finding.pattern.id }, at: finding.token)
            add(id, finding.token, finding.certainty)
            if id == "dispatch-queue-lock" { sites.forEach { rename($0.token, to: "dispatch-lock-used") } }
            if id == "dispatch-queue-readers" {
                sites.filter { $0.member == Word(.sync) }.forEach { rename($0.token, to: "dispatch-readers-used") }
            }
        }
        analyzeOwnQueues()
        addImpliedLimits()
    }

    /// Finds processes and descriptors that are opened in bodies, so that the width of the queue limits their number.
    private mutating func addImpliedLimits() {
        let names: Set = ["Process", "NSTask", "Pipe", "FileHandle", "fopen", "open", "socket", "popen", "posix_spawn"]
        for index in file.tokens.indices where file.isWord(index) && file[index + 1] == .openParen {
            guard names.contains(file.text(index)), file[index - 1] != .dot, file[index - 1] != .func else { continue }
            // Only calls that open a descriptor: `FileHandle(forReadingFrom:)`, not `FileHandle(fileDescriptor:)`.
            if file.text(index) == "FileHandle", file.text(index + 2) == "fileDescriptor" { continue }
            if codeBase.functions.contains(file.word(index)) || codeBase.types[file.word(index)] != nil { continue }
            if isInLimitedBody(index) { add("queue-limit-implied", index, .likely) }
        }
    }

    /// Whether a token is in the body of an operation, or in a closure that a queue with a width executes.
    private func isInLimitedBody(_ index: Int) -> Bool {
        if isInOperation(index), ["main", "start", "execute"].contains(functionName(around: index)) { return true }
        return methodsAround(index).contains { method in
            guard file[method] == .async || file[method] == .addOperation, let identity = identity(ofMember: method)
            else {
                return false
            }
            return sites.contains { $0.identity == identity }
        }
    }

    /// The purpose of a queue. A queue that is used only by `sync` is a lock, and stays in its file.
    private func role(_ finding: Finding, _ uses: QueueUses, _ sites: [Site]) -> String? {
        if finding.pattern.id == "dispatch-queue-concurrent" {
            return hasWriters(sites) ? "dispatch-queue-readers" : nil
        }
        guard uses.members.contains(Word(.sync)) else { return nil }
        if uses.members.contains(Word(.async)) { return "dispatch-queue-value" }
        return uses.members == [Word(.sync)] && !uses.isPassedOn && !uses.isGivenToSystem ? "dispatch-queue-lock" : nil
    }

    /// Names the purpose of the queue in the finding of a `sync`.
    private mutating func rename(_ token: Int, to pattern: String) {
        guard let old = findings(at: token).first(where: { $0.pattern.id == "dispatch-sync" }) else { return }
        remove({ $0.id == "dispatch-sync" }, at: token)
        add(pattern, token, old.certainty)
    }

    /// Whether a queue excludes readers while a writer runs. A barrier whose only use is to wait marks the end of a
    /// batch.
    private func hasWriters(_ sites: [Site]) -> Bool {
        let (barriers, others) = sites.reduce(into: ([Site](), [Site]())) { parts, site in
            let isBarrier = findings(at: site.token).contains { $0.pattern.id.hasPrefix("dispatch-barrier") }
            if isBarrier { parts.0.append(site) } else { parts.1.append(site) }
        }
        if barriers.contains(where: { $0.member == Word(.async) }) { return true }
        return !barriers.isEmpty && others.contains { $0.member == Word(.sync) }
    }

    /// Finds work items that are replaced before they run, and timers that are created again.
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
            // A local variable cannot keep the timer of an earlier call.
            let isStopped = stops.contains { stop in
                stop.token < finding.token && file.outline.enclosing(.function, of: stop.token) == function
            }
            guard identity.scope < 0, isStopped else { continue }
            let repeats = labels(finding.token).contains { file[$0] == .repeats && file[$0 + 2] == .true }
            if finding.pattern.id == "timer", repeats { continue }
            remove({ $0.id == finding.pattern.id }, at: finding.token)
            add(finding.pattern.id == "timer" ? "timer-rearmed" : "work-item-replaced", finding.token, .likely)
        }
    }
}
