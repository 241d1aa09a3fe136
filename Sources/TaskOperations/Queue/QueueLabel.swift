/// How a queue is called in events and reports, which must not keep the queue itself.
public struct QueueLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The queue's name; nil if it has none.
    public let name: String?

    /// A number that no other queue of the process has or had.
    public let number: Int

    init(_ scheduler: Scheduler) {
        name = scheduler.queueName
        number = scheduler.queueNumber
    }

    /// The name in quotation marks, as in `queue "images"`.
    public var description: String { name.map { "queue \"\($0)\"" } ?? "an unnamed queue" }

    /// Whether this is the label of a queue.
    public func isLabel(of queue: TaskOperationQueue) -> Bool { number == queue.scheduler.queueNumber }
}
