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

    nonisolated func tellFollowers() {
        for follower in apply({ $0.followers }) { follower.suspensionChanged() }
    }
}
