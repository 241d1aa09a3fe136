/// The entries of the compiler's index for the names in one file.
struct FileRecord {
    enum Owner {
        /// A member of a system type.
        case system(SystemType)
        /// Any other symbol.
        case other
        /// The index has no entry, as in a branch of `#if` that was not compiled.
        case unknown
    }

    struct Place: Hashable {
        let line: Int
        let column: Int
    }

    struct Symbol {
        let name: String
        /// The type that declares the member or that is created; nil if it is not a system type.
        let owner: SystemType?
        /// Whether the symbol is a type, not a member of one.
        let isType: Bool
        let isInitializer: Bool
    }

    var symbols: [Place: [Symbol]] = [:]

    func merged(with other: FileRecord) -> FileRecord {
        FileRecord(symbols: symbols.merging(other.symbols) { $0 + $1 })
    }

    /// The owner of the member whose name is at a position.
    func owner(at line: Int, _ column: Int, named name: String) -> Owner {
        guard let here = symbols[Place(line: line, column: column)] else { return .unknown }
        let fitting = here.filter { !$0.isType && $0.name == name }
        if let type = fitting.lazy.compactMap(\.owner).first { return .system(type) }
        return fitting.isEmpty ? .unknown : .other
    }

    /// The type that is created at a position, by its name or by an alias.
    func made(at line: Int, _ column: Int) -> Owner {
        guard let here = symbols[Place(line: line, column: column)] else { return .unknown }
        let initializers = here.filter(\.isInitializer)
        if let type = initializers.lazy.compactMap(\.owner).first { return .system(type) }
        if !initializers.isEmpty { return .other }
        let types = here.filter(\.isType)
        return types.isEmpty || types.contains { $0.owner != nil } ? .unknown : .other
    }
}
