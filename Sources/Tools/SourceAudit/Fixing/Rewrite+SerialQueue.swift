extension Rewrite {
    /// A serial queue becomes a `Mutex` if every use of it is `sync`.
    static let serialQueue = Rewrite(patterns: ["dispatch-queue-lock"]) {
        finding, context throws(Refusal) in
        let labels = context.matcher.labels(finding.token).map { context.file.text($0) }
        // `sync` uses the caller's thread and its quality of service.
        guard labels == ["label"] || labels == ["label", "qos"] else {
            throw Refusal("it is created with more than a label and a quality of service")
        }
        let form = LockRewriter.Form(type: "DispatchQueue", acquire: nil, release: nil, scoped: "sync")
        return try LockRewriter(context: context, form: form).change(finding.token)
    }
}
