internal import Foundation

extension Foundation.Operation {
    /// How the operation is called in messages: its name in quotation marks and its type, or where it is in memory.
    var title: String {
        if let name, !name.isEmpty { return "\"\(name)\" (\(type(of: self)))" }
        return "\(type(of: self)) 0x\(String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16))"
    }
}
