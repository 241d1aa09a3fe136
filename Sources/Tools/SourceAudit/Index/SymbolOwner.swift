import CTools
import Foundation

/// Determines the type that owns a symbol, from its unified symbol resolution string.
struct SymbolOwner {
    private static let modules: Set<String> = ["Foundation", "Dispatch", "__C", "FoundationEssentials", "os", "Darwin"]
    private static let otherNames: [String: SystemType] = {
        var names = Dictionary(uniqueKeysWithValues: SystemType.allCases.map { ($0.rawValue, $0) })
        for (name, type) in SystemType.otherNames { names[name] = type }
        names["OS_dispatch_queue"] = .dispatchQueue
        names["OS_dispatch_group"] = .group
        names["OS_dispatch_semaphore"] = .semaphore
        names["OS_dispatch_source"] = .source
        names["OS_dispatch_workitem"] = .workItem
        return names
    }()

    private let codeBase: CodeBase
    private var known: [String: (owner: SystemType?, isType: Bool)] = [:]

    init(_ codeBase: CodeBase) { self.codeBase = codeBase }

    /// Whether a symbol is a member of the common base class of queues and sources. Then only names can tell queues and
    /// sources apart.
    static func isShared(_ usr: String) -> Bool {
        ["s:8Dispatch0A6ObjectC", "c:objc(cs)OS_dispatch_object", "c:objc(pl)OS_dispatch_object"].contains {
            usr.hasPrefix($0)
        }
    }

    mutating func owner(of usr: String) -> (owner: SystemType?, isType: Bool) {
        if let known = known[usr] { return known }
        let result = usr.hasPrefix("s:") ? swiftOwner(usr) : objectiveCOwner(usr)
        known[usr] = result
        return result
    }

    /// Parses `c:objc(cs)NSOperation(im)cancel`.
    private func objectiveCOwner(_ usr: String) -> (owner: SystemType?, isType: Bool) {
        for prefix in ["c:objc(cs)", "c:objc(pl)"] where usr.hasPrefix(prefix) {
            let rest = usr.dropFirst(prefix.count)
            let name = rest.prefix { $0 != "(" }
            return (Self.otherNames[String(name)], name.count == rest.count)
        }
        return (nil, false)
    }

    /// Parses `s:8Dispatch0A5QueueC5async…`, whose demangled form is `Dispatch.DispatchQueue.async(…) -> ()`.
    private func swiftOwner(_ usr: String) -> (owner: SystemType?, isType: Bool) {
        let mangled = "$s" + usr.dropFirst(2)
        guard let pointer = index_store_demangle(mangled, mangled.utf8.count) else { return (nil, false) }
        defer { free(pointer) }
        return Self.owner(ofDemangled: String(cString: pointer)) { codeBase.systemType(codeBase.vocabulary[$0]) }
    }

    /// - Parameter ownType: Returns the system type from which a type of the code base inherits.
    static func owner(
        ofDemangled name: String, ownType: (String) -> SystemType?
    ) -> (owner: SystemType?, isType: Bool) {
        var text = name[...]
        if text.hasPrefix("static ") { text.removeFirst(7) }
        // A member that a code base adds to a system type counts as a member of that type, because a port moves both
        // together.
        if text.hasPrefix("(extension in "), let end = text.firstIndex(of: ":") {
            text = text[text.index(after: end)...]
        }
        guard let module = takeName(&text), text.first == "." else { return (nil, false) }
        text.removeFirst()
        guard let type = takeName(&text), type.first?.isLetter ?? false else { return (nil, false) }
        let owner = modules.contains(module) ? otherNames[type] : ownType(type)
        if text.isEmpty { return (owner, true) }
        // Skips the generic arguments of the owner. The members of a nested type are not members of the owner.
        if text.first == "<", let end = text.firstIndex(of: ">") { text = text[text.index(after: end)...] }
        guard text.first == "." else { return (nil, false) }
        text.removeFirst()
        guard let member = takeName(&text) else { return (owner, false) }
        return member.first?.isUppercase ?? false ? (nil, text.isEmpty) : (owner, false)
    }

    /// Removes a name from the beginning: `Name`, or `(Name in _0123)` for a private declaration.
    private static func takeName(_ text: inout Substring) -> String? {
        if text.first == "(" {
            guard let end = text.firstIndex(of: ")") else { return nil }
            let name = text.dropFirst().prefix { $0 != " " }
            text = text[text.index(after: end)...]
            return String(name)
        }
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        text = text[name.endIndex...]
        return name.isEmpty ? nil : String(name)
    }
}
