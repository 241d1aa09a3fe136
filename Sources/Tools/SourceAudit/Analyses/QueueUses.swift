/// The uses of a queue or a lock in the file that creates it.
struct QueueUses {
    var members: Set<Word> = []
    /// Whether the value is passed on, stored elsewhere, or returned.
    var isPassedOn = false
    var isGivenToSystem = false
}

extension FileMatcher {
    /// The uses of variables, by the variable that each name denotes.
    func queueUses(of identities: Set<Identity>) -> [Identity: QueueUses] {
        let names = Set(identities.map(\.name))
        var uses: [Identity: QueueUses] = [:]
        guard !names.isEmpty else { return uses }
        for index in file.tokens.indices where names.contains(file.word(index)) && file.isWord(index) {
            switch file[index - 1] {
            case .let, .var, .backslash: continue
            default: break
            }
            // Skips a label, and a declaration of another variable.
            if file[index + 1] == .colon, file[index - 1] == .openParen || file[index - 1] == .comma { continue }
            guard let identity = identity(ofVariable: index), identities.contains(identity) else { continue }
            note(index, &uses[identity, default: QueueUses()])
        }
        return uses
    }

    private func note(_ index: Int, _ uses: inout QueueUses) {
        var next = index + 1
        while file[next] == .question || file[next] == .exclamation { next += 1 }
        if file[next] == .dot { return _ = uses.members.insert(file.word(next + 1)) }
        if file[next] == .equal { return }
        var start = index
        while file[start - 1] == .dot, file.isWord(start - 2) { start -= 2 }
        switch file[start - 1] {
        case .openSquare where file[file.partner(start - 1) + 1] == .in: return  // a capture
        case .weak, .unowned: return
        case .openBrace where file[next] == .closeBrace: uses.isPassedOn = true
        case .openParen, .comma, .colon:
            guard let call = call(ofArgument: start) else { return uses.isPassedOn = true }
            if Self.queueConditions.contains(file.text(call.name)) { return }
            if requires(call) == nil { uses.isPassedOn = true } else { uses.isGivenToSystem = true }
        case .return, .equal, .question, .in: uses.isPassedOn = true
        default: uses.isPassedOn = true
        }
    }

    // MARK: Queues that a system API asks for

    /// The call of an argument: the token of the function's name, and the argument's label, or the empty word without
    /// one.
    struct Call {
        let name: Int
        let label: Word
        /// The opening bracket.
        let open: Int
    }

    /// The call whose argument begins at a token, if it is near.
    func call(ofArgument start: Int) -> Call? {
        let isLabelled = file[start - 1] == .colon && file.isWord(start - 2)
        var position = isLabelled ? start - 2 : start - 1
        for _ in 0..<60 {
            switch file[position] {
            case .openParen:
                guard file.partner(position) > start, file.isWord(position - 1) else { return nil }
                return Call(
                    name: position - 1, label: isLabelled ? file.word(start - 2) : Vocabulary.none, open: position)
            case .openSquare where file.language == .objectiveC && file.partner(position) > start:
                return Call(name: position, label: isLabelled ? file.word(start - 2) : Vocabulary.none, open: position)
            case .closeParen, .closeSquare, .closeBrace:
                let open = file.partner(position)
                guard open < position else { return nil }
                position = open - 1
            case .openBrace, .openSquare, .semicolon: return nil
            default: position -= 1
            }
            if position < 0 { return nil }
        }
        return nil
    }

    /// The certainty that a function of the system requires the queue in a call; nil if no such function is called.
    func requires(_ call: Call) -> Finding.Certainty? {
        let (name, label) = (file.text(call.name), file.vocabulary[call.label])
        if name.hasSuffix("SetDispatchQueue") || name.hasSuffix("ScheduleWithRunLoop")
            || name.hasPrefix("nw_") && name.hasSuffix("_set_queue")
        {
            return .certain
        }
        // A function of the code base takes a queue with this label, and no other label identifies the system's
        // function.
        let own = codeBase.parameter(call.label, of: file.word(call.name))
        let isOwn =
            codeBase.types[file.word(call.name)]?.contains(where: \.isDeclaration) == true
            || own.flatMap { codeBase.systemType($0.name) } != nil
                && !labels(call.name).contains { file.text($0) == "forName" }
        if file.language == .objectiveC, file[call.name] == .openSquare {
            let isAsked = (call.open..<min(call.open + 60, file.partner(call.open))).contains { index in
                SystemQueues.calls[label]?.contains { file.text(index).hasPrefix($0) } ?? false
            }
            return label == "delegateQueue" || isAsked ? .certain : nil
        }
        guard let names = SystemQueues.calls[label], !isOwn else { return nil }
        return names.isEmpty || names.contains(name) ? .certain : nil
    }

    /// Whether a system API requires the queue that a value names or makes.
    func requirement(ofValue index: Int) -> Finding.Certainty? {
        var start = index
        while file[start - 1] == .dot, file.isWord(start - 2) { start -= 2 }
        if file[start - 1] == .dot { start -= 1 }
        if file.language == .objectiveC {
            if let message = typer.receiver(ofMessage: index) { start = message.open }
            while file[start - 1] == .openSquare { start -= 1 }
        }
        if file[start - 1] == .equal, isSystemProperty(start - 2) { return .certain }
        return call(ofArgument: start).flatMap(requires)
    }

    /// Whether a name is a system object's property that keeps a queue. Variables of the code base have the same names.
    func isSystemProperty(_ index: Int) -> Bool {
        guard file.isWord(index), SystemQueues.properties.contains(file.text(index)) else { return false }
        if file.text(index) == SystemQueues.requirement { return true }
        guard file[index - 1] == .dot, let owner = typer.receiver(ofDot: index - 1), !owner.isMetatype else {
            return false
        }
        return codeBase.types[owner.type.name] == nil
    }

    /// Renames values of queues that a system API requires, and removes findings that their call already counts.
    mutating func analyzeQueueValues() {
        for finding in findings where SystemQueues.values.contains(finding.pattern.id) {
            if let certainty = requirement(ofValue: finding.token) {
                remove({ $0.id == finding.pattern.id }, at: finding.token)
                add("dispatch-required", finding.token, certainty)
            } else if SystemQueues.parts.contains(finding.pattern.id), isPartOfFinding(finding.token) {
                remove({ $0.id == finding.pattern.id }, at: finding.token)
            }
        }
        let made = Dictionary(
            findings.filter { SystemQueues.made.contains($0.pattern.id) }.compactMap { finding in
                identity(ofMade: finding.token).map { ($0, finding) }
            }, uniquingKeysWith: { first, _ in first })
        for (identity, uses) in queueUses(of: Set(made.keys)) where uses.isGivenToSystem && !uses.isPassedOn {
            guard let finding = made[identity],
                uses.members.allSatisfy({ SystemQueues.settings.contains(file.vocabulary[$0]) })
            else { continue }
            remove({ $0.family == finding.pattern.family }, at: finding.token)
            add("dispatch-required", finding.token, finding.certainty)
            // The settings of a queue that is kept are kept.
            for site in sites where site.identity == identity { remove({ _ in true }, at: site.token) }
        }
    }

    /// Whether a value is an argument of a call that has its own finding.
    private func isPartOfFinding(_ index: Int) -> Bool {
        var start = index
        for _ in 0..<4 {
            while file[start - 1] == .dot, file.isWord(start - 2) { start -= 2 }
            if file[start - 1] == .dot { start -= 1 }
            guard let call = call(ofArgument: start), call.name < start else { return false }
            if !findings(at: call.name).isEmpty { return true }
            start = call.name
        }
        return false
    }
}

/// The system functions that require a queue.
enum SystemQueues {
    /// The names of the functions by the label of the queue's argument. An empty set means any function.
    static let calls: [String: Set<String>] = [
        "scheduler": [], "delegateQueue": [],
        "on": ["receive", "subscribe", "publish", "requestMediaDataWhenReady"],
        "queue": [
            "start", "addObserver", "addObserverForName", "setSampleBufferDelegate", "setMetadataObjectsDelegate",
            "setSampleBufferCallback", "setDelegate", "CBCentralManager", "CBPeripheralManager", "initWithDelegate",
            "addPeriodicTimeObserver", "addPeriodicTimeObserverForInterval", "addBoundaryTimeObserver",
            "addBoundaryTimeObserverForTimes", "setCallback",
        ],
        "to": [
            "startDeviceMotionUpdates", "startAccelerometerUpdates", "startGyroUpdates", "startMagnetometerUpdates",
            "startRelativeAltitudeUpdates", "startActivityUpdates",
        ],
    ]

    /// Properties of system objects that keep a queue.
    static let properties: Set = ["delegateQueue", "operationQueue", requirement]
    /// The requirement of `NSFilePresenter`, which the code base implements.
    static let requirement = "presentedItemOperationQueue"

    /// The members of a queue that submit no work.
    static let settings: Set = [
        "name", "maxConcurrentOperationCount", "qualityOfService", "underlyingQueue", "setTarget",
    ]

    /// The patterns that name a queue.
    static let parts: Set = ["dispatch-main-queue", "dispatch-global-queue", "queue-main", "run-loop-named"]
    /// The patterns that create a queue.
    static let made: Set = [
        "dispatch-queue-serial", "dispatch-queue-concurrent", "dispatch-queue-lock", "dispatch-queue-value",
        "queue-made",
    ]
    static let values = parts.union(made)
}
