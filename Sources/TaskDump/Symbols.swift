internal import CTaskDump
internal import Synchronization

#if canImport(Runtime) && os(Linux)
    @_spi(Internal) @_spi(MemoryReaders) internal import Runtime
#endif

/// The functions and lines of addresses of code. They are known on Linux, lines for code with debug information. The
/// first look-up reads the debug information of the program, which can take seconds.
package struct Symbols: Sendable {
    // A `Mutex` is unknown to the thread sanitizer, but no test with the sanitizer looks up symbols.
    private static let known = Mutex<[UInt: TaskDump.Frame?]>([:])

    private let symbols: [UInt: TaskDump.Frame?]

    package subscript(address: UInt) -> TaskDump.Frame? { symbols[address] ?? nil }

    /// The functions, without those that the compiler generated to call others.
    func frames(_ addresses: [UInt]) -> [TaskDump.Frame] {
        addresses.compactMap { self[$0] }.filter { !$0.isThunk }
    }

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

        private static func lookUp(_ addresses: [UInt]) -> [UInt: TaskDump.Frame?] {
            let lines = lines(of: addresses)
            // A line after the address counts only in the same function.
            let (names, namesOfLines) = (names(of: addresses), names(of: lines.map(\.address)))
            let frames = names.indices.map { index -> TaskDump.Frame? in
                guard let name = names[index] else { return nil }
                let isSame = namesOfLines[index]?.rawName == name.rawName
                return TaskDump.Frame(
                    function: shorten(name.name).onOneLine, place: isSame ? lines[index].place?.onOneLine : nil,
                    owner: owner(of: name.rawName, in: name.imageName))
            }
            return Dictionary(uniqueKeysWithValues: zip(addresses, frames))
        }

        /// The programs and libraries at earlier look-ups. A later list lacks libraries: a look-up maps the files with the
        /// symbols, and the module takes the memory of a file for the library.
        private static let earlierImages = Mutex<[ImageMap]>([])

        private static func names(of addresses: [UInt]) -> [SymbolicatedBacktrace.Symbol?] {
            var names = [SymbolicatedBacktrace.Symbol?](repeating: nil, count: addresses.count)
            var rest = Array(addresses.indices)
            for images in earlierImages.withLock(\.self) { look(in: images, &rest, &names, addresses) }
            guard !rest.isEmpty else { return names }
            let (images, count) = (images(), rest.count)
            look(in: images, &rest, &names, addresses)
            if rest.count < count { earlierImages.withLock { $0.append(images) } }
            return names
        }

        /// Finds the names of the addresses that are in some images, and removes these from `rest`.
        private static func look(
            in images: ImageMap, _ rest: inout [Int], _ names: inout [SymbolicatedBacktrace.Symbol?],
            _ addresses: [UInt]
        ) {
            let isFound = { (index: Int) in
                Backtrace.Address(addresses[index]).map { images.indexOfImage(at: $0) != nil } ?? false
            }
            let found = rest.filter(isFound)
            guard !found.isEmpty else { return }
            rest.removeAll(where: isFound)
            let frames = found.map { RichFrame<UInt>.programCounter(addresses[$0]) }
            let backtrace = Backtrace(architecture: "", frames: frames, images: images)
            // The module's reader of lines takes seconds for a large program.
            guard let resolved = backtrace.symbolicated(options: [.useSymbolCache]) else { return }
            for (index, frame) in zip(found, resolved.frames) { names[index] = frame.symbol }
        }

        /// The places of addresses. The first instructions of a function that continues after an `await` often have no
        /// line. Their place is that of a later address.
        private static func lines(of addresses: [UInt]) -> [(address: UInt, place: String?)] {
            let offsets: [UInt] = [0, 4, 8, 16, 24, 32, 48]
            var lines = addresses.flatMap { address in
                offsets.map { offset in
                    var line = TaskDumpLine()
                    // An address from memory that changes can have any value.
                    line.address = address &+ offset
                    return line
                }
            }
            lines.withUnsafeMutableBufferPointer { taskDumpFindLines($0.baseAddress!, $0.count) }
            return addresses.indices.map { index in
                let candidates = lines[index * offsets.count..<(index + 1) * offsets.count]
                guard let found = candidates.first(where: { $0.line > 0 }) else { return (addresses[index], nil) }
                let file = withUnsafeBytes(of: found.file) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                // Code that a macro has generated is in no file.
                let isGenerated = file.hasPrefix("@__swiftmacro") || file.hasPrefix("<")
                return (found.address, isGenerated ? nil : "\(file):\(found.line)")
            }
        }

        private static func owner(of symbol: String, in image: String) -> TaskDump.Frame.Owner {
            let isLibrary = image.hasPrefix("lib") && image.contains(".so")
            guard symbol.hasPrefix("$s") || symbol.hasPrefix("$S") else {
                // Functions of this package, those of the system that it replaces, and those of the runtime.
                let prefixes = ["schedules", "taskDump", "pthread_mutex_", "swift_"]
                return isLibrary || prefixes.contains { symbol.hasPrefix($0) } ? .system : .program
            }
            // Other libraries of Swift code can be products of the program.
            let toolchain = ["libswift", "libFoundation", "lib_Foundation", "libTesting", "lib_Testing", "libXCTest"]
            if isLibrary, toolchain.contains(where: { image.hasPrefix($0) }) { return .system }
            // The function that the macro `@Test` generates, which calls that of the program.
            if symbol.includes("4TestfMp_") { return .system }
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
            // The main function continues in parts, whose names the demangler does not know.
            var name = name.hasPrefix("async_Main") ? "async_Main" : name[...]
            for start in [" partial function for ", "closure #"] {
                while let range = name.firstRange(of: start) {
                    name = name[range.upperBound...]
                    if start == "closure #" { name = name.drop { $0.isNumber }.dropFirst(" in ".count) }
                }
            }
            // The optimizer copies functions.
            if name.hasPrefix("specialized ") { name = name.dropFirst("specialized ".count) }
            for end in ["@Sendable", " async", " throws", " -> "] {
                if let range = name.firstRange(of: end) { name = name[..<range.lowerBound] }
            }
            return name.isEmpty ? "a closure" : String(name.prefix { $0 != "@" })
        }
    #else
        private static func lookUp(_ addresses: [UInt]) -> [UInt: TaskDump.Frame?] { [:] }
    #endif
}

extension TaskDump.Frame {
    /// Whether the compiler generated the function to call another one.
    fileprivate var isThunk: Bool {
        place == nil
            && (function.includes("thunk") || function.hasPrefix("partial apply")
                || function.hasPrefix("dispatch thunk"))
    }
}

extension String {
    /// Whether the text contains another one. The function of the standard library with this meaning is in a module that
    /// is not imported on all platforms.
    package func includes(_ text: String) -> Bool {
        let (all, part) = (Array(utf8), Array(text.utf8))
        return all.count >= part.count
            && (0...all.count - part.count).contains { all[$0..<$0 + part.count].elementsEqual(part) }
    }
}
