extension Rewrite {
    /// A semaphore with the initial value 1 becomes a `Mutex` if the scope of every `wait()` contains its `signal()`.
    static let semaphore = Rewrite(patterns: ["semaphore-lock"]) {
        finding, context throws(Refusal) in
        let file = context.file
        let value = finding.token + 2
        guard file.text(value) == "value", file.partner(finding.token + 1) == value + 3, file.text(value + 2) == "1"
        else { throw Refusal("its value is not 1") }
        let form = LockRewriter.Form(type: "DispatchSemaphore", acquire: "wait", release: "signal", scoped: nil)
        return try LockRewriter(context: context, form: form).change(finding.token)
    }
}
