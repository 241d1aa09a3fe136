internal import Foundation

extension Foundation.Operation {
    /// The title of the operation in messages: its type, and its name in quotation marks or its address.
    var title: String {
        if let name, !name.isEmpty { return "\"\(name)\" (\(type(of: self)))" }
        return "\(type(of: self)) 0x\(String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16))"
    }
}
