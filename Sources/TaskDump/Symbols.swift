internal import Synchronization

#if canImport(Runtime) && os(Linux)
    @_spi(Internal) @_spi(MemoryReaders) internal import Runtime
#endif

/// A function and the line in it to which an address of code belongs.
package struct Symbol: Sendable, CustomStringConvertible {
    /// The function, without the parts of its name that do not help.
    package let function: String
    /// The file and the line; nil if the compiler generated the code, or without debug information.
    package let place: String?
    /// The code to which the function belongs.
    package let owner: Owner

    package enum Owner: Sendable {
        case program
        /// TaskOperations and its sisters.
        case package
        /// The Swift toolchain or the system.
        case system
    }

    package var description: String { function + (place.map { " (\($0))" } ?? "") }
}

/// The functions and lines of addresses of code. They are known on Linux, lines for code with debug information. The
/// first look-up reads the debug information of the program, which can take seconds.
package struct Symbols: Sendable {
    // A `Mutex` is unknown to the thread sanitizer, but no test with the sanitizer looks up symbols.
    private static let known = Mutex<[UInt: Symbol]>([:])

    private let symbols: [UInt: Symbol]

    package subscript(address: UInt) -> Symbol? { symbols[address] }

    package init(_ addresses: Set<UInt>) {
        let new = Self.known.withLock { known in addresses.filter { known[$0] == nil } }
        let found = new.isEmpty ? [:] : Self.lookUp(Array(new))
        symbols = Self.known.withLock { known in
            known.merge(found) { old, _ in old }
            return known
        }
    }

    #if canImport(Runtime) && os(Linux)
        /// The programs and libraries in memory. The system copies the memory, because another thread may unmap a file
        /// meanwhile, and a read of its memory would stop the process.
        static func images() -> ImageMap { .capture(using: LocalMemoryReader()) }

        private static func lookUp(_ addresses: [UInt]) -> [UInt: Symbol] {
            var symbols = resolve(addresses)
            // The first instructions of a function that continues after an `await` often have no line.
            let lacking = symbols.filter { $0.value.place == nil && $0.value.owner == .program }.map(\.key)
            let offsets: [UInt] = [4, 8, 16, 24, 32, 48, 64]
            let next = lacking.isEmpty ? [:] : resolve(lacking.flatMap { address in offsets.map { address + $0 } })
            for address in lacking {
                let function = symbols[address]?.function
                let candidates = offsets.lazy.compactMap { next[address + $0] }.prefix { $0.function == function }
                if let found = candidates.first(where: { $0.place != nil }) { symbols[address] = found }
            }
            return symbols
        }

        private static func resolve(_ addresses: [UInt]) -> [UInt: Symbol] {
            let frames = addresses.map { RichFrame<UInt>.programCounter($0) }
            let backtrace = Backtrace(architecture: "", frames: frames, images: images())
            let options: Backtrace.SymbolicationOptions = [.showSourceLocations, .useSymbolCache]
            guard let resolved = backtrace.symbolicated(options: options) else { return [:] }
            var symbols: [UInt: Symbol] = [:]
            for (address, frame) in zip(addresses, resolved.frames) {
                guard let symbol = frame.symbol else { continue }
                let location = symbol.sourceLocation.flatMap { $0.line > 0 ? $0 : nil }
                // Code that a macro has generated is in no file.
                let file = location.flatMap { $0.path.split(separator: "/").last }
                let isGenerated = file.map { $0.hasPrefix("@__swiftmacro") || $0.hasPrefix("<") } ?? true
                let place = isGenerated ? nil : location.map { "\(file ?? ""):\($0.line)" }
                symbols[address] = Symbol(
                    function: shorten(symbol.name), place: place,
                    owner: owner(of: symbol.rawName, in: symbol.imageName))
            }
            return symbols
        }

        private static func owner(of symbol: String, in image: String) -> Symbol.Owner {
            if image.hasPrefix("lib") && image.contains(".so") { return .system }
            guard symbol.hasPrefix("$s") || symbol.hasPrefix("$S") else {
                return symbol.hasPrefix("swift_") ? .system : .program
            }
            let module = module(of: symbol.dropFirst(2))
            if module.hasPrefix("TaskOperations") && !module.hasSuffix("Tests") || module == "TaskDump" {
                return .package
            }
            return ["Swift", "Synchronization", "Testing", "Foundation", "Dispatch"].contains(module)
                ? .system : .program
        }

        /// The module that declares a function, by the rules of docs/ABI/Mangling.rst in the Swift repository: a name
        /// begins with the module, or with a type of the standard library. An extension names its module, and then `E`.
        private static func module(of name: Substring) -> String {
            var rest = name
            while let next = rest.first {
                guard next.isASCII, next.isNumber else {
                    if rest.count == name.count, next != "s", next != "S" { return "" }
                    // The kinds of types, and the short names of types of the standard library.
                    if rest.count < name.count - 3 && !"VOCsS".contains(next) { break }
                    rest.removeFirst()
                    continue
                }
                let length = Int(rest.prefix { $0.isNumber }) ?? 0
                rest = rest.drop { $0.isNumber }
                let identifier = rest.prefix(length)
                rest = rest.dropFirst(length)
                if name.first?.isNumber == true || rest.first == "E" { return String(identifier) }
            }
            return "Swift"
        }

        /// Removes the parts of a demangled name that do not help: `(1) await resume partial function for closure #1 in
        /// Module.A.f() async -> ()` becomes `A.f()`.
        private static func shorten(_ name: String) -> String {
            var name = name[...]
            for start in [" partial function for ", "closure #"] {
                while let range = name.firstRange(of: start) {
                    name = name[range.upperBound...]
                    if start == "closure #" { name = name.drop { $0.isNumber }.dropFirst(" in ".count) }
                }
            }
            for end in ["@Sendable", " async", " throws", " -> "] {
                if let range = name.firstRange(of: end) { name = name[..<range.lowerBound] }
            }
            return name.isEmpty ? "a closure" : String(name.prefix { $0 != "@" })
        }
    #else
        private static func lookUp(_ addresses: [UInt]) -> [UInt: Symbol] { [:] }
    #endif
}
