/// The name of an operation in errors and descriptions. A label does not keep the operation in memory.
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

    /// Whether this is the label of an operation. If the labelled operation was freed, another operation with the same
    /// name may use its address. The result is then true for that operation, too.
    public func isLabel(of operation: AnyTaskOperation) -> Bool {
        name == operation.name && id == UInt(bitPattern: ObjectIdentifier(operation))
    }
}
