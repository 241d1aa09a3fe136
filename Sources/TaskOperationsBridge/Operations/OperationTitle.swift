internal import Foundation

extension Foundation.Operation {
    /// The title of the operation in messages. It consists of the name and the type. Without a name, it consists of the
    /// type and the address.
    var title: String {
        if let name, !name.isEmpty { return "\"\(name)\" (\(type(of: self)))" }
        return "\(type(of: self)) 0x\(String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16))"
    }
}
