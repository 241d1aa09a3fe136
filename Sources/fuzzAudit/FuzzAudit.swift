import CommandOutput
import Foundation
import SourceAudit

/// Audits sources that are any bytes.
///
/// A build with `swift build --sanitize fuzzer -Xswiftc -DFUZZER --product fuzzAudit --scratch-path .build/fuzz` is a
/// target of libFuzzer. An ordinary build audits the given files.
#if !FUZZER
    @main
#endif
struct FuzzAudit {
    static func main() {
        do {
            for path in CommandLine.arguments.dropFirst() {
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
                try StandardStreams.writeOutput("\(path): \(Auditor.findings(in: bytes, path: path).count)\n")
            }
        } catch {
            StandardStreams.writeError("fuzzAudit: \(error)\n")
            exit(1)
        }
    }
}

#if FUZZER
    /// The function that libFuzzer calls for each input. The first byte selects the language.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
        let path = bytes.first.map { $0 & 1 == 0 } ?? true ? "Input.swift" : "Input.m"
        _ = Auditor.findings(in: Array(bytes.dropFirst()), path: path)
        return 0
    }
#endif
