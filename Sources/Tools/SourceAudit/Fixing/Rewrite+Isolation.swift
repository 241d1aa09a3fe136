extension Rewrite {
    /// A closure of the main actor that another queue calls becomes `@Sendable`, and the methods of a delegate become
    /// `nonisolated`, if their code leaves isolated state to blocks of the main actor.
    static let isolation = Rewrite(patterns: ["checking-isolated-callback"], need: .nothing) {
        finding, context throws(Refusal) in
        try IsolationRewriter(matcher: context.matcher).change(finding.token)
    }
}
