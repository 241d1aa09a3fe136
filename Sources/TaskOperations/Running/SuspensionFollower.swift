/// Follows whether a queue is suspended.
protocol SuspensionFollower: AnyObject, Sendable {
    /// The queue was suspended or resumed, or can no longer be suspended.
    func suspensionChanged()
}

extension Scheduler {
    nonisolated func addFollower(_ follower: any SuspensionFollower) {
        apply(follower) { scheduler, follower in scheduler.followers.append(follower) }
    }

    nonisolated func removeFollower(_ follower: any SuspensionFollower) {
        // The caller keeps it.
        apply(follower) { scheduler, follower in scheduler.followers.removeAll { $0 === follower } }
    }

    /// Applies an event that may suspend the queue or resume it, and tells those that follow that.
    @inline(__always)
    nonisolated func applyToSuspension<Input, Result: Sendable>(
        _ input: Input, _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        let result = apply(input, event)
        var followers: [any SuspensionFollower] = []
        look(with: &followers) { scheduler, followers in followers = scheduler.followers }
        for follower in followers { follower.suspensionChanged() }
        return result
    }
}
