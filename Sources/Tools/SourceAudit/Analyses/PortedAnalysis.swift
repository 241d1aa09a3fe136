extension FileMatcher {
    /// Finds mistakes in code that has moved.
    mutating func analyzePorted() {
        addBlockingBodies()
        addAwaits()
    }

    /// Blocking calls in bodies of our queues.
    private mutating func addBlockingBodies() {
        let blocking: Set<String> = [
            "semaphore-wait", "semaphore-lock-used", "semaphore-limit-used", "group-wait", "thread-sleep",
            "operation-wait", "queue-wait", "dispatch-sync", "lock-condition-used", "source-process",
            "ported-blocking-wait",
        ]
        for finding in findings where blocking.contains(finding.pattern.id) {
            if finding.pattern.id == "lock-condition-used", file[finding.token] != .wait { continue }
            if file[finding.token] == .signal { continue }
            if methodsAround(finding.token).contains(where: isBody) {
                add("ported-blocking-body", finding.token, .likely)
            }
        }
    }

    /// Whether a method's closure becomes the body of one of our operations.
    private func isBody(_ method: Int) -> Bool {
        if let type = codeBase.systemType(file.word(method)), file[method - 1] != .dot {
            return type == .taskOperation || type == .anyTaskOperation
        }
        guard file[method] == .addOperation || file[method] == .run, file[method - 1] == .dot else { return false }
        return typer.systemType(typer.receiver(ofDot: method - 1)) == .taskQueue
    }

    /// Finds `await other.value` in a body of a queue of width 1.
    private mutating func addAwaits() {
        var serial: Set<Identity> = []
        for index in file.tokens.indices where file.isWord(index) {
            guard codeBase.systemType(file.word(index)) == .taskQueue, file[index + 1] == .openParen else { continue }
            let isSerial = labels(index).contains {
                file[$0] == .maxConcurrentOperationCount && file.text($0 + 2) == "1" && file[$0 + 3] != .dot
            }
            if isSerial, let identity = identity(ofMade: index) { serial.insert(identity) }
        }
        guard !serial.isEmpty else { return }
        let waits: Set<String> = ["value", "result", "waitUntilFinished", "waitUntilAllOperationsAreFinished"]
        for index in file.tokens.indices where file[index] == .await {
            let isWait = (index + 1..<min(index + 14, file.tokens.count)).contains { place in
                file[place - 1] == .dot && waits.contains(file.text(place)) && file.line(place) == file.line(index)
            }
            guard isWait else { continue }
            let isInBody = methodsAround(index).contains { method in
                guard file[method] == .addOperation || file[method] == .run else { return false }
                // A dependency has ended before the body begins.
                let awaited = (index + 1..<index + 4).map { file.word($0) }
                if arguments(method).contains(where: { awaited.contains(file.word($0)) && file.isWord($0) }) {
                    return false
                }
                return identity(ofMember: method).map(serial.contains) ?? false
            }
            if isInBody { add("ported-await-on-width-1", index, .likely) }
        }
    }
}
