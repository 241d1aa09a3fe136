/// Code of the main actor that the system calls on another queue.
///
/// A closure literal has the isolation of the code around it, unless its parameter is `@Sendable`. In the Swift 6 mode,
/// the compiler inserts a check at the beginning of such a closure, which stops the process if another queue calls it.
extension FileMatcher {
    mutating func analyzeIsolation() {
        guard file.language == .swift else { return }
        let (sources, items) = (sourcesMade, itemsExecutedElsewhere())
        for index in file.tokens.indices where file.isWord(index) && file[index - 1] != .func {
            switch file[index + 1] {
            case .openParen, .openBrace: break
            default: continue
            }
            guard Callbacks.functions.contains(file.text(index)), let closure = closure(ofCall: index),
                inherits(closure), mayCallElsewhere(index, sources, items), isOnMainActor(index)
            else { continue }
            add("checking-isolated-callback", index, .likely)
        }
        for type in declarations.types where type.kind == .class || type.kind == .extension {
            addDelegate(type)
        }
    }

    /// The opening brace of the closure that a call receives last.
    func closure(ofCall index: Int) -> Int? {
        guard file[index + 1] == .openParen else { return index + 1 }
        let close = file.partner(index + 1)
        if file[close + 1] == .openBrace, !file.isFirstOnLine(close + 1) { return close + 1 }
        guard var start = argumentStarts(index).last else { return nil }
        if file.isWord(start), file[start + 1] == .colon { start += 2 }
        return file[start] == .openBrace ? start : nil
    }

    /// Whether a closure states no isolation of its own, and no `@Sendable`.
    private func inherits(_ open: Int) -> Bool {
        var index = open + 1
        if file[index] == .openSquare { index = file.partner(index) + 1 }
        return file[index] != .at
    }

    /// Whether the queue that calls the closure of a call is another one than the main queue.
    private func mayCallElsewhere(_ index: Int, _ sources: [Identity: Int], _ items: Set<Identity>) -> Bool {
        switch file.text(index) {
        case "setEventHandler", "setCancelHandler", "setRegistrationHandler": isSourceElsewhere(index, sources)
        case "DispatchWorkItem": isExecutedElsewhere(index, items)
        case "notify": label("queue", index).map { !isMain($0) } ?? false
        case "register": label("using", index).map { !isMain($0) } ?? false
        case "requestAccess", "requestAuthorization", "evaluatePolicy", "performChanges": file[index - 1] == .dot
        case "open": label("configuration", index) != nil
        case "installTap": label("onBus", index) != nil
        case "add": isOfNotificationCenter(index)
        default: true
        }
    }

    /// Whether a method is one of `UNUserNotificationCenter.current()`, or of a variable with this value or type.
    private func isOfNotificationCenter(_ index: Int) -> Bool {
        guard file[index - 1] == .dot, var start = typer.chainStart(before: index - 1) else { return false }
        if let variable = declarations.local(file.word(start), at: index, in: file),
            case .expression(let value) = variable.source
        {
            start = value
        }
        let type = typer.receiver(ofDot: index - 1)?.type.name ?? file.word(start)
        return file.vocabulary[type] == "UNUserNotificationCenter"
    }

    /// The first token of the argument with a label.
    private func label(_ text: String, _ index: Int) -> Int? {
        labels(index).first { file.text($0) == text }.map { $0 + 2 }
    }

    /// Whether an expression names the main queue.
    private func isMain(_ start: Int) -> Bool {
        if file[start] == .dot { return file[start + 1] == .main }
        if file[start + 1] == .dot, file[start + 2] == .main { return true }
        return file.text(start).lowercased().contains("main")
    }

    /// Whether a source was made in this file for another queue.
    private func isSourceElsewhere(_ index: Int, _ sources: [Identity: Int]) -> Bool {
        guard let identity = identity(ofMember: index) else { return false }
        return sources[identity].map { place in label("queue", place).map { !isMain($0) } ?? true } ?? false
    }

    /// Whether a queue other than the main one executes a work item, and the main queue does not.
    private func isExecutedElsewhere(_ index: Int, _ elsewhere: Set<Identity>) -> Bool {
        if let call = call(ofArgument: index), file.text(call.name).hasPrefix("async") {
            return file[call.name - 2] != .main
        }
        return identity(ofMade: index).map(elsewhere.contains) ?? false
    }

    /// The work items that only queues other than the main one execute.
    private func itemsExecutedElsewhere() -> Set<Identity> {
        var (elsewhere, onMain): (Set<Identity>, Set<Identity>) = ([], [])
        for place in file.tokens.indices where file[place] == .execute && file[place + 1] == .colon {
            guard file.isWord(place + 2), let item = identity(ofVariable: place + 2),
                let call = call(ofArgument: place + 2), file[call.name - 1] == .dot
            else { continue }
            if file[call.name - 2] == .main { onMain.insert(item) } else { elsewhere.insert(item) }
        }
        return elsewhere.subtracting(onMain)
    }

    /// Whether code is isolated to the main actor, by itself or by its target's default.
    private func isOnMainActor(_ index: Int) -> Bool {
        for place in file.outline.scopes(around: index) {
            let scope = file.outline.scopes[place]
            switch scope.kind {
            case .closure:
                if let isolation = isolation(ofClosure: scope.open) { return isolation }
            case .function:
                if let isolation = isolation(ofDeclaration: scope.head) { return isolation }
            case .type:
                if let isolation = isolation(ofDeclaration: scope.head) { return isolation }
                if codeBase.isIsolated(scope.name) { return true }
                if codeBase.isNonisolated(scope.name) { return false }
            case .file, .block, .deferred: break
            }
        }
        return codeBase.isolatedFiles.contains(file.number)
    }

    func isolation(ofDeclaration head: Int) -> Bool? {
        if file[head] == .actor { return false }
        let attributes = file.attributes(before: head)
        if attributes.contains(where: { ["nonisolated", "concurrent", "Sendable"].contains($0) }) { return false }
        return attributes.contains("MainActor") ? true : attributes.contains { $0.hasSuffix("Actor") } ? false : nil
    }

    /// The isolation of a closure: nil if it has that of the code around it.
    private func isolation(ofClosure open: Int) -> Bool? {
        var index = open + 1
        while file[index] == .at {
            if file[index + 1] == .globalActor { return true }
            if ["Sendable", "concurrent"].contains(file.text(index + 1)) { return false }
            index += 2
        }
        var method = open - 1
        if file[method] == .closeParen { method = file.partner(method) - 1 }
        let name = file.text(method)
        let isDetached = name == "detached" || name == "async" || name == "asyncAfter" || name.hasPrefix("addOperation")
        // These parameters are `@Sendable`.
        guard isDetached || ["addTask", "detachNewThread", "concurrentPerform"].contains(name) else { return nil }
        return file[method - 2] == .main
    }

    /// Finds an isolated type that is the delegate of a system object which calls it on its own queue.
    private mutating func addDelegate(_ type: TypeDeclaration) {
        guard let method = isolatedCallbacks(of: type).first else { return }
        add("checking-isolated-callback", method + 1, .likely)
    }

    /// The isolated methods of a type that a system object calls on its own queue: the tokens of their `func`. An
    /// `async` method changes to its actor by itself.
    func isolatedCallbacks(of type: TypeDeclaration) -> [Int] {
        let scope = file.outline.scopes[type.scope]
        for reference in type.supers {
            guard let names = Callbacks.delegates[file.vocabulary[reference.name]],
                codeBase.isolatedFiles.contains(file.number) || isPreconcurrency(reference.name, scope),
                isOnMainActor(scope.open), !isDelegateOnMain
            else { continue }
            let methods = (scope.open..<min(scope.close, file.tokens.count)).filter { index in
                file[index] == .func && names.contains(file.text(index + 1))
                    && file.outline.scopes[file.outline.scope(of: index)].parent == type.scope
                    && isolation(ofDeclaration: index) == nil
                    && file[file.partner(index + 2) + 1] != .async
            }
            if !methods.isEmpty { return methods }
        }
        return []
    }

    func isPreconcurrency(_ name: Word, _ scope: Scope) -> Bool {
        (scope.head..<max(scope.head, scope.open)).contains { index in
            file.word(index) == name && file[index - 1] == .preconcurrency
        }
    }

    /// Whether the file gives the main queue to an object that calls a delegate.
    private var isDelegateOnMain: Bool {
        file.tokens.indices.contains { index in
            guard file[index + 1] == .colon, file[index - 1] == .comma || file[index - 1] == .openParen else {
                return false
            }
            return ["delegateQueue", "queue"].contains(file.text(index)) && isMain(index + 2)
        }
    }

    /// The calls that make sources, by the variables that keep the sources.
    private var sourcesMade: [Identity: Int] {
        var made: [Identity: Int] = [:]
        for index in file.tokens.indices where file[index - 1] == .dot && file[index + 1] == .openParen {
            let name = file.text(index)
            guard name.hasPrefix("make"), name.hasSuffix("Source"), let identity = identity(ofMade: index - 2) else {
                continue
            }
            made[identity] = index
        }
        return made
    }
}

/// The functions of the system that call a closure on a queue of their own, and whose parameter is not `@Sendable`.
private enum Callbacks {
    static let functions: Set<String> = [
        "setEventHandler", "setCancelHandler", "setRegistrationHandler", "DispatchWorkItem", "notify", "register",
        "add",
        "requestAuthorization", "getNotificationSettings", "getPendingNotificationRequests",
        "getDeliveredNotifications", "requestAccess", "openApplication", "open", "evaluatePolicy", "installTap",
        "performChanges", "recognitionTask", "AVAudioSourceNode", "AVAudioSinkNode", "HKObserverQuery", "HKSampleQuery",
        "HKAnchoredObjectQuery", "HKStatisticsQuery", "AudioObjectAddPropertyListenerBlock",
        "MIDIClientCreateWithBlock",
        "MIDIInputPortCreateWithBlock", "CVDisplayLinkSetOutputHandler",
    ]

    /// The protocols of delegates that are called on another queue, with the names of their methods.
    static let delegates: [String: Set<String>] = {
        let session: Set = ["urlSession", "urlSessionDidFinishEvents"]
        let output: Set = ["captureOutput", "fileOutput", "photoOutput", "metadataOutput"]
        return [
            "URLSessionDelegate": session, "URLSessionTaskDelegate": session, "URLSessionDataDelegate": session,
            "URLSessionDownloadDelegate": session, "URLSessionWebSocketDelegate": session,
            "AVCaptureVideoDataOutputSampleBufferDelegate": output,
            "AVCaptureAudioDataOutputSampleBufferDelegate": output, "AVCaptureFileOutputRecordingDelegate": output,
            "AVCapturePhotoCaptureDelegate": output, "SCStreamOutput": ["stream"], "SCStreamDelegate": ["stream"],
            "WCSessionDelegate": ["session", "sessionReachabilityDidChange"], "MCSessionDelegate": ["session"],
        ]
    }()
}
