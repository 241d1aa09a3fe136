import Foundation
import Simulation
import SourceAudit

/// Runs programs that are made from bytes, or audits sources that are any bytes: fuzz [--audit] FILE…
///
/// A build with `swift build --sanitize fuzzer -Xswiftc -DFUZZER --product fuzz --scratch-path .build/fuzz` is a target of
/// libFuzzer, which generates the bytes; with `-Xswiftc -DFUZZ_AUDIT` they are sources. An ordinary build reads the given
/// files.
#if !FUZZER
    @main
#endif
struct Fuzz {
    static func main() {
        do {
            var paths = CommandLine.arguments.dropFirst()
            let isAudit = paths.first == "--audit"
            if isAudit { paths.removeFirst() }
            for path in paths {
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
                let result =
                    isAudit
                    ? "\(path): \(Auditor.findings(in: bytes, path: path).count)\n"
                    : "\(path):\n\(program(from: bytes).run(keepsTrace: true))\n\n"
                try StandardStreams.writeOutput(result)
            }
        } catch {
            StandardStreams.writeError("fuzz: \(error)\n")
            exit(1)
        }
    }

    static func program(from bytes: some Sequence<UInt8>) -> Program {
        var choices = ByteChoices(bytes)
        return Program(from: &choices)
    }

    /// Audits bytes as a source file. The first byte selects the language.
    static func audit(_ bytes: [UInt8]) {
        let path = bytes.first.map { $0 & 1 == 0 } ?? true ? "Input.swift" : "Input.m"
        _ = Auditor.findings(in: Array(bytes.dropFirst()), path: path)
    }
}

#if FUZZER
    /// The function that libFuzzer calls for each input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let bytes = UnsafeBufferPointer(start: start, count: count)
        #if FUZZ_AUDIT
            Fuzz.audit([UInt8](bytes))
        #else
            let program = Fuzz.program(from: bytes)
            if !program.run().violations.isEmpty { fatalError("\(program.run(keepsTrace: true))") }
        #endif
        return 0
    }
#endif
