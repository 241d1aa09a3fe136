/// How a queue is called in events and reports, which must not keep the queue itself.
public struct QueueLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The queue's name when it was asked; nil if it had none.
    public let name: String?

    /// A number that no other queue of the process has or had.
    public let number: Int

    package init(_ identity: QueueIdentity) {
        name = identity.name
        number = identity.number
    }

    package init(_ scheduler: Scheduler) {
        self.init(scheduler.identity)
    }

    /// The name in quotation marks, as in `queue "images"`.
    public var description: String { name.map { "queue \"\($0)\"" } ?? "an unnamed queue" }

    /// Whether this is the label of a queue.
    public func isLabel(of queue: TaskOperationQueue) -> Bool { number == queue.scheduler.queueNumber }
}
