/// The number and the name of a queue, for objects that must not retain the queue.
package final class QueueIdentity: Sendable {
    /// A number that no other queue of the process has or had.
    let number = Rank.next()

    private let currentName: Lock<String?>

    init(name: String?) {
        currentName = Lock(name)
    }

    var name: String? {
        get { currentName.withLock { $0 } }
        set { currentName.withLock { $0 = newValue } }
    }
}
