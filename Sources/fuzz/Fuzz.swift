import CommandOutput
import Foundation
import Simulation

/// Runs programs that are made from bytes.
///
/// A build with `swift build --sanitize fuzzer` is a target of libFuzzer, which generates the bytes. An ordinary build
/// runs the programs in the given files.
#if !FUZZER
    @main
#endif
struct Fuzz {
    static func main() {
        do {
            for path in CommandLine.arguments.dropFirst() {
                let program = program(from: try Data(contentsOf: URL(filePath: path)))
                try StandardStreams.writeOutput("\(path):\n\(program.run(keepsTrace: true))\n\n")
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
}

#if FUZZER
    /// The function that libFuzzer calls for each input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let program = Fuzz.program(from: UnsafeBufferPointer(start: start, count: count))
        if !program.run().violations.isEmpty {
            fatalError("\(program.run(keepsTrace: true))")
        }
        return 0
    }
#endif
