extension Rewrite {
    /// `NSLock` becomes `Mutex` if every use of it is `withLock`, or `lock()` with an `unlock()` that leaves its scope.
    static let lock = Rewrite(patterns: ["lock-made"]) {
        finding, context throws(Refusal) in
        let form = LockRewriter.Form(type: "NSLock", acquire: "lock", release: "unlock", scoped: "withLock")
        guard !context.codeBase.hasUnusualWithLock else {
            throw Refusal("the code base has a withLock of its own that does more than lock")
        }
        return try LockRewriter(context: context, form: form).change(finding.token)
    }
}
