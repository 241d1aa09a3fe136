/// Follows whether a queue is suspended.
package protocol SuspensionFollower: AnyObject, Sendable {
    /// The queue was suspended or resumed, or can no longer be suspended.
    func suspensionChanged()
}

extension Scheduler {
    package nonisolated func addFollower(_ follower: any SuspensionFollower) {
        withCore { $0.followers.append(follower) }
    }

    package nonisolated func removeFollower(_ follower: any SuspensionFollower) {
        // The caller keeps it.
        withCore { $0.followers.removeAll { $0 === follower } }
    }

    /// Applies an event that may suspend the queue or resume it, and tells the followers.
    nonisolated func withSuspension<Result: Sendable>(_ event: (inout SchedulerCore) -> Result) -> Result {
        let (result, followers) = withCore { core in (event(&core), core.followers) }
        for follower in followers { follower.suspensionChanged() }
        return result
    }
}
