import CommandOutput
import Foundation
import Simulation

/// Runs programs that are made from bytes.
///
/// Built with `swift build --sanitize fuzzer`, it is a target of libFuzzer, which makes the bytes up. Built as ever, it
/// runs those in the files that it is given.
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
    /// What libFuzzer calls for each input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let program = Fuzz.program(from: UnsafeBufferPointer(start: start, count: count))
        if !program.run().violations.isEmpty {
            fatalError("\(program.run(keepsTrace: true))")
        }
        return 0
    }
#endif
