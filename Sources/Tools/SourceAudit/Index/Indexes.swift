/// The combined information of several stores about the audited files. A package has more than one store if it was
/// built by both build systems, or in several configurations.
struct Indexes {
    private(set) var records: [Int: FileRecord] = [:]
    private(set) var uses: [Int: [Int: Int]] = [:]
    /// The files for which no store has an up-to-date record.
    private(set) var stale: [Int] = []
    /// The stores that could be read.
    private(set) var stores: [String] = []
    /// The stores that could not be read, with the error of each.
    private(set) var failures: [(store: String, message: String)] = []

    /// Reads the stores' information about the files, given by their absolute paths.
    init(stores: [String], library: String?, files: [String: Int], codeBase: CodeBase, members: Set<String>) {
        var old: Set<Int> = []
        for store in stores {
            do {
                let index = try Index(
                    path: store, library: library, files: files, codeBase: codeBase, members: members)
                records.merge(index.records) { $0.merged(with: $1) }
                uses.merge(index.uses) { $0.merging($1) { max($0, $1) } }
                self.stores.append(store)
                old.formUnion(index.stale)
            } catch {
                failures.append((store, (error as? IndexStore.Failure)?.message ?? "\(error)"))
            }
        }
        stale = old.subtracting(records.keys).sorted()
    }
}
