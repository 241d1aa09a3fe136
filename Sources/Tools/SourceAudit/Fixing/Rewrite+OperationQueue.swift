extension Rewrite {
    /// `OperationQueue()` becomes `BridgedOperationQueue()`, unless the code base uses a feature that works differently
    /// on the bridged queue.
    static let operationQueue = Rewrite(patterns: ["queue-made"], need: .bridge) {
        finding, context throws(Refusal) in
        let file = context.file
        for (pattern, use) in [
            ("queue-current", "OperationQueue.current"), ("operation-quality", "qualityOfService of operations"),
        ] where context.codeBase.patterns.contains(pattern) {
            throw Refusal("the code base uses \(use), which differs in a bridged queue")
        }
        let variable = try DeclaredVariable(madeAt: finding.token, in: file)
        guard file.text(finding.token) == "OperationQueue", file.partner(finding.token + 1) == finding.token + 2 else {
            throw Refusal("it is not created by a plain OperationQueue()")
        }
        let declarations = context.matcher.declarations
        for index in file.tokens.indices where file.word(index) == variable.name && file.isWord(index) {
            let local = file[index - 1] == .dot ? nil : declarations.local(variable.name, at: index, in: file)
            if variable.place == .local, local?.index != variable.index { continue }
            let member = file.text(index + 2)
            if file[index + 1] == .dot, ["operations", "operationCount", "underlyingQueue"].contains(member) {
                throw Refusal("\(member) differs, in line \(file.line(index))")
            }
            let label = file[index - 2] == .selfValue ? index - 4 : index - 2
            if file[label + 1] == .colon, ["delegateQueue", "queue"].contains(file.text(label)) {
                throw Refusal("the queue is passed to another API, in line \(file.line(index))")
            }
        }
        let made = file.range(finding.token...finding.token)
        var edits = [Edit(range: made, text: "BridgedOperationQueue")]
        // Keeps the declared type, because other code may use it.
        if variable.type == nil, variable.place != .local || variable.isVariable {
            let end = Int(file.tokens[variable.index].start) + file.text(variable.index).utf8.count
            edits.append(Edit(range: end..<end, text: ": OperationQueue"))
        }
        return Change(edits: edits, visibleName: nil)
    }
}
