/// The name of an operation in errors and descriptions. A label does not keep the operation in memory. If the operation
/// was freed, another operation with the same name may use its address, and then has an equal label.
public struct OperationLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The operation's name; nil if the operation has no name.
    public let name: String?

    private let id: UInt

    package init(_ operation: AnyTaskOperation) {
        name = operation.name
        id = UInt(bitPattern: ObjectIdentifier(operation))
    }

    /// The name in quotation marks, or the operation's identity if it has no name.
    public var description: String {
        name.map { "\"\($0)\"" } ?? "unnamed operation 0x\(String(id, radix: 16))"
    }
}

/// The name and the number of a queue in events and reports. A label does not keep the queue in memory.
public struct QueueLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The queue's name at the creation of the label; nil if the queue had no name.
    public let name: String?

    /// The number of the queue. It is unique among all queues of the process, including freed queues.
    public let number: Int

    init(_ identity: QueueIdentity) {
        name = identity.name
        number = identity.number
    }

    package init(_ scheduler: Scheduler) {
        self.init(scheduler.identity)
    }

    /// The name in quotation marks, as in `queue "images"`.
    public var description: String { name.map { "queue \"\($0)\"" } ?? "an unnamed queue" }
}
