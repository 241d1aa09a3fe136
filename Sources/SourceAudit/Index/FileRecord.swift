/// The entries of the compiler's index for the names in one file.
struct FileRecord {
    enum Owner {
        /// A member of a system type.
        case system(SystemType)
        /// Something else.
        case other
        /// The index says nothing, as in a branch of `#if` that was not compiled.
        case unknown
    }

    struct Place: Hashable {
        let line: Int
        let column: Int
    }

    struct Symbol {
        let name: String
        /// The type that declares it, or that it makes; nil if that is no system type.
        let owner: SystemType?
        /// Whether it is a type itself, not a member of one.
        let isType: Bool
        let isInitializer: Bool
    }

    var symbols: [Place: [Symbol]] = [:]

    func merged(with other: FileRecord) -> FileRecord {
        FileRecord(symbols: symbols.merging(other.symbols) { $0 + $1 })
    }

    /// Whose member the name at a place is.
    func owner(at line: Int, _ column: Int, named name: String) -> Owner {
        guard let here = symbols[Place(line: line, column: column)] else { return .unknown }
        let fitting = here.filter { !$0.isType && $0.name == name }
        if let type = fitting.lazy.compactMap(\.owner).first { return .system(type) }
        return fitting.isEmpty ? .unknown : .other
    }

    /// Which type is made at a place, by its name or by an alias of it.
    func made(at line: Int, _ column: Int) -> Owner {
        guard let here = symbols[Place(line: line, column: column)] else { return .unknown }
        let initializers = here.filter(\.isInitializer)
        if let type = initializers.lazy.compactMap(\.owner).first { return .system(type) }
        if !initializers.isEmpty { return .other }
        let types = here.filter(\.isType)
        return types.isEmpty || types.contains { $0.owner != nil } ? .unknown : .other
    }
}
