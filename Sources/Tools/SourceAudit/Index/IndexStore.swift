import CTools
import Foundation

/// Reads the compiler's index, which a build writes and which maps each name to its symbol. The library of the index is
/// loaded at run time. One thread at a time may use the store.
final class IndexStore {
    /// The reason why the index cannot be read.
    struct Failure: Error {
        let message: String
    }

    private var functions = IndexFunctions()
    private let store: IndexReference
    private let units: URL

    init(path: String, library: String?) throws {
        let library = library ?? Self.toolchainLibrary()
        if let missing = index_store_load(library, &functions) {
            throw Failure(message: "libIndexStore: no \(String(cString: missing)) at \(library)")
        }
        var error: IndexReference?
        guard let store = functions.store_create(path, &error) else {
            throw Failure(message: "no index store at \(path)")
        }
        self.store = store
        let folder = URL(filePath: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        units = folder.appending(path: (names.filter { $0.hasPrefix("v") }.max() ?? "v5") + "/units")
    }

    deinit { functions.store_dispose(store) }

    private static func toolchainLibrary() -> String {
        #if canImport(Darwin)
            let name = "libIndexStore.dylib"
        #else
            let name = "libIndexStore.so"
        #endif
        return Toolchain.library([name]) ?? name
    }

    /// An occurrence of a symbol.
    struct Occurrence {
        let name: String
        let usr: String
        let roles: UInt64
        let line: Int
        let column: Int

        var isDefinition: Bool { roles & 2 != 0 }
        var isReference: Bool { roles & 4 != 0 }
        /// Whether the compiler generated the occurrence, so that the source does not name the symbol.
        var isImplicit: Bool { roles & 256 != 0 }
    }

    /// Calls `body` for each record of a source file outside the system, with the path of the file and the time of its
    /// compilation.
    func forEachRecord(_ body: @escaping (_ path: String, _ name: String, _ made: Date?) -> Void) {
        let names = Box<[String]>([])
        withExtendedLifetime(names) {
            let context = Unmanaged.passUnretained(names).toOpaque()
            _ = functions.units_apply(store, 0, context) { context, name in
                // The box outlives the call that it is passed to.
                Unmanaged<Box<[String]>>.fromOpaque(context!).takeUnretainedValue().value.append(text(name))
                return true
            }
        }
        for name in names.value { forEachRecord(ofUnit: name, body) }
    }

    private func forEachRecord(
        ofUnit name: String, _ body: @escaping (_ path: String, _ name: String, _ made: Date?) -> Void
    ) {
        let unitPath = units.appending(path: name).path
        let made = try? FileManager.default.attributesOfItem(atPath: unitPath)[.modificationDate] as? Date
        var error: IndexReference?
        guard let unit = functions.unit_create(store, name, &error) else { return }
        defer { functions.unit_dispose(unit) }
        if functions.unit_is_system(unit) { return }
        let visitor = Box((functions, { (path: String, name: String) in body(path, name, made) }))
        withExtendedLifetime(visitor) {
            _ = functions.unit_dependencies(unit, Unmanaged.passUnretained(visitor).toOpaque()) { context, dependency in
                // The box outlives the call that it is passed to.
                let (functions, body) = Unmanaged<Box<(IndexFunctions, (String, String) -> Void)>>
                    .fromOpaque(context!).takeUnretainedValue().value
                let isRecord = functions.dependency_kind(dependency) == 2
                if isRecord, !functions.dependency_is_system(dependency) {
                    body(text(functions.dependency_file(dependency)), text(functions.dependency_name(dependency)))
                }
                return true
            }
        }
    }

    /// Calls `body` for each occurrence in a record.
    func forEachOccurrence(inRecord name: String, _ body: @escaping (Occurrence) -> Void) {
        withRecord(name) { record, functions in
            let visitor = Box((functions, body))
            withExtendedLifetime(visitor) {
                _ = functions.occurrences(record, Unmanaged.passUnretained(visitor).toOpaque()) { context, occurrence in
                    // The box outlives the call that it is passed to.
                    let (functions, body) = Unmanaged<Box<(IndexFunctions, (Occurrence) -> Void)>>
                        .fromOpaque(context!).takeUnretainedValue().value
                    let symbol = functions.occurrence_symbol(occurrence)
                    var (line, column): (UInt32, UInt32) = (0, 0)
                    functions.occurrence_position(occurrence, &line, &column)
                    body(
                        Occurrence(
                            name: text(functions.symbol_name(symbol)), usr: text(functions.symbol_usr(symbol)),
                            roles: functions.occurrence_roles(occurrence), line: Int(line), column: Int(column)))
                    return true
                }
            }
        }
    }

    /// Opens a record, if it exists, for the duration of `look`.
    func withRecord(_ name: String, _ look: (IndexReference, IndexFunctions) -> Void) {
        var error: IndexReference?
        guard let record = functions.record_create(store, name, &error) else { return }
        defer { functions.record_dispose(record) }
        look(record, functions)
    }
}

/// Boxes a value so that a C function can pass its address on.
final class Box<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// The contents of a string of the library.
func text(_ string: IndexString) -> String {
    guard let data = string.data else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: data, count: string.length), as: UTF8.self)
}
