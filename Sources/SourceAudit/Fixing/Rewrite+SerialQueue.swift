extension Rewrite {
    /// A serial queue becomes a `Mutex` if every use of it is `sync`.
    static let serialQueue = Rewrite(patterns: ["dispatch-queue-lock"], module: "Synchronization") {
        finding, context throws(Refusal) in
        let labels = context.matcher.labels(finding.token).map { context.file.text($0) }
        guard labels == ["label"] else { throw Refusal("it is created with more than a label") }
        let form = MutexRewriter.Form(type: "DispatchQueue", acquire: nil, release: nil, scoped: "sync")
        return try MutexRewriter(context: context, form: form).change(finding.token)
    }
}
