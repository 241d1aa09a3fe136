/// An object that is notified when the suspension of a queue changes.
package protocol SuspensionFollower: AnyObject, Sendable {
    /// Called after the queue was suspended or resumed, or after it can no longer be suspended.
    func suspensionChanged()
}

extension Scheduler {
    package nonisolated func addFollower(_ follower: any SuspensionFollower) {
        withCore { $0.followers.append(follower) }
    }

    package nonisolated func removeFollower(_ follower: any SuspensionFollower) {
        // This does not free the follower, which the caller retains.
        withCore { $0.followers.removeAll { $0 === follower } }
    }

    /// The scheduler whose suspension also suspends this queue; nil if there is none.
    package nonisolated var suspensionSource: Scheduler? {
        get { withCore { $0.suspensionSource } }
        set {
            let old = withCore { core in
                defer { core.suspensionSource = newValue }
                return core.suspensionSource
            }
            // Released after unlocking.
            extendLifetime(old)
        }
    }

    /// Applies an event that may suspend or resume the queue, and notifies the followers.
    nonisolated func withSuspension<Result: Sendable>(_ event: (inout SchedulerCore) -> Result) -> Result {
        let (result, followers) = withCore { core in (event(&core), core.followers) }
        for follower in followers { follower.suspensionChanged() }
        return result
    }
}
