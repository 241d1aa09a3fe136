import Foundation

/// The information of an index about the audited files.
struct Index {
    /// The records by the number of the file.
    private(set) var records: [Int: FileRecord] = [:]
    /// For each file with a record, the files whose declarations the file names, and the number of these names.
    private(set) var uses: [Int: [Int: Int]] = [:]
    /// The files that changed after the index was written.
    private(set) var stale: [Int] = []
    /// The path of the store.
    let path: String

    /// Reads the store's information about the files, given by their absolute paths.
    init(path: String, library: String?, files: [String: Int], codeBase: CodeBase, members: Set<String>) throws {
        self.path = path
        let store = try IndexStore(path: path, library: library)
        var owners = SymbolOwner(codeBase)
        var wanted: [(file: Int, record: String)] = []
        var seen: Set<String> = []
        let collected = Collected()
        store.forEachRecord { file, record, made in collected.records.append((file, record, made)) }
        var old: Set<Int> = []
        for (file, record, made) in collected.records {
            guard let number = files[file] ?? files[URL(filePath: file).resolvingSymlinksInPath().path] else {
                continue
            }
            guard seen.insert(record + "\n" + file).inserted else { continue }
            if let changed = Self.changeDate(file), let made, changed > made {
                old.insert(number)
                continue
            }
            wanted.append((number, record))
        }
        stale = old.subtracting(wanted.map(\.file)).sorted()
        let read = Set(wanted.map(\.record))
        ForeignBases(store, audited: read, others: Set(collected.records.map(\.1)).subtracting(read), &owners)
            .add(to: codeBase)
        var definitions: [Int: Int] = [:]
        var references: [(file: Int, usr: Int)] = []
        for (file, record) in wanted {
            collected.occurrences = []
            store.forEachOccurrence(inRecord: record) { collected.occurrences.append($0) }
            var facts = records[file] ?? FileRecord()
            for occurrence in collected.occurrences {
                if occurrence.isDefinition { definitions[occurrence.usr.hashValue] = file }
                guard occurrence.isReference else { continue }
                references.append((file, occurrence.usr.hashValue))
                Self.note(occurrence, &facts, &owners, members)
            }
            records[file] = facts
        }
        for (file, usr) in references {
            if let home = definitions[usr], home != file { uses[file, default: [:]][home, default: 0] += 1 }
        }
    }

    /// The records and occurrences, collected by the callbacks of the library.
    private final class Collected {
        var records: [(String, String, Date?)] = []
        var occurrences: [IndexStore.Occurrence] = []
    }

    private static func note(
        _ occurrence: IndexStore.Occurrence, _ facts: inout FileRecord, _ owners: inout SymbolOwner,
        _ members: Set<String>
    ) {
        if occurrence.name.hasPrefix("getter:") || occurrence.name.hasPrefix("setter:") { return }
        let base = String(occurrence.name.prefix { $0 != "(" && $0 != ":" })
        let isInitializer = base == "init"
        let isUpper = base.first?.isUppercase ?? false
        guard isInitializer || isUpper || members.contains(base) else { return }
        if SymbolOwner.isShared(occurrence.usr) { return }
        let (owner, isType) = owners.owner(of: occurrence.usr)
        let place = FileRecord.Place(line: occurrence.line, column: occurrence.column)
        facts.symbols[place, default: []].append(
            FileRecord.Symbol(name: base, owner: owner, isType: isType, isInitializer: isInitializer))
    }

    private static func changeDate(_ path: String) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }

    /// The stores of packages around and in the given folders: the stores in `.build` of both build systems.
    static func stores(near roots: [String]) -> [String] {
        var packages: [URL] = []
        for root in roots {
            var folder = URL(filePath: root).standardizedFileURL
            for _ in 0..<12 {
                let build = folder.appending(path: ".build")
                if FileManager.default.fileExists(atPath: build.path) {
                    packages.append(build)
                    break
                }
                if folder.path == "/" { break }
                folder.deleteLastPathComponent()
            }
        }
        var seen: Set<String> = []
        return packages.flatMap { stores(in: $0, depth: 4) }.filter {
            seen.insert(URL(filePath: $0).resolvingSymlinksInPath().path).inserted
        }
    }

    private static func stores(in folder: URL, depth: Int) -> [String] {
        let store = folder.appending(path: "index/store")
        if FileManager.default.fileExists(atPath: store.path) { return [store.path] }
        guard depth > 0, let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            return []
        }
        let skipped: Set<String> = ["checkouts", "repositories", "artifacts", "plugins", "ModuleCache"]
        return names.sorted().filter { !skipped.contains($0) && !$0.hasSuffix(".build") }.flatMap { name in
            let path = folder.appending(path: name)
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder)
            return exists && isFolder.boolValue ? stores(in: path, depth: depth - 1) : []
        }
    }
}
