/// The name and the number of a queue in events and reports. A label does not keep the queue in memory.
public struct QueueLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The queue's name at the creation of the label; nil if the queue had no name.
    public let name: String?

    /// The number of the queue. It is unique among all queues of the process, including freed queues.
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
}
