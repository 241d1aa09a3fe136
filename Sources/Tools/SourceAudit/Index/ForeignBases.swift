/// Classes of other packages that inherit from a system type, and from which classes of the code base inherit: `class
/// Fetch: AsyncBase` is an operation if a dependency has `class AsyncBase: Operation`.
struct ForeignBases {
    private var types: [(name: String, type: SystemType)] = []

    /// - Parameters:
    ///   - audited: The records of the audited files.
    ///   - others: The records of all other files in the store.
    init(_ store: IndexStore, audited: Set<String>, others: Set<String>, _ owners: inout SymbolOwner) {
        let own = Self.inheritances(audited, store)
        let derived = Set(own.map(\.derived))
        let unknown = own.filter { !derived.contains($0.base) && !$0.base.hasPrefix("s:s") }
        // The other records are read only if a base class is still unknown.
        guard unknown.contains(where: { owners.owner(of: $0.base).owner == nil }), !others.isEmpty else { return }
        var bases: [String: [String]] = [:]
        for other in Self.inheritances(others, store) { bases[other.derived, default: []].append(other.base) }
        var seen: Set<String> = []
        for inheritance in unknown where seen.insert(inheritance.base).inserted {
            if let type = Self.systemType(of: inheritance.base, bases, &owners) {
                types.append((inheritance.baseName, type))
            }
        }
    }

    func add(to codeBase: CodeBase) {
        for (name, type) in types { codeBase.addForeign(name, type) }
    }

    /// The inheritances of a record, collected by its callback.
    private final class Collected {
        var inheritances: [IndexStore.Inheritance] = []
    }

    private static func inheritances(_ records: Set<String>, _ store: IndexStore) -> [IndexStore.Inheritance] {
        let collected = Collected()
        for record in records.sorted() {
            store.forEachInheritance(inRecord: record) { collected.inheritances.append($0) }
        }
        return collected.inheritances
    }

    /// The system type from which a class inherits, directly or through other classes.
    private static func systemType(
        of usr: String, _ bases: [String: [String]], _ owners: inout SymbolOwner
    ) -> SystemType? {
        var waiting = bases[usr] ?? []
        var seen: Set<String> = [usr]
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            let (owner, isType) = owners.owner(of: next)
            if let owner, isType { return owner }
            waiting += bases[next] ?? []
        }
        return nil
    }
}
