import Dispatch
import Foundation
public import MigrationExamplesSupport
import TaskOperationsBridge

extension Ported {
    /// Reads all bytes of a pipe until the other end is closed.
    public static func descriptorSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: descriptor-source
        let pipe = Pipe()
        writeSizes(of: input.files.prefix(40), to: pipe.fileHandleForWriting)

        let descriptor = pipe.fileHandleForReading.fileDescriptor
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        for try await _ in DispatchSource.readEvents(fileDescriptor: descriptor) {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        try pipe.fileHandleForReading.close()
        let lines = bytes.split(separator: UInt8(ascii: "\n")).count
        return RecipeResult("\(lines) lines, \(SHA256.digest(of: bytes))")
        // endregion
    }
}

/// Writes one line per file, and closes the pipe.
private func writeSizes(of files: ArraySlice<InputFile>, to handle: FileHandle) {
    Thread.detachNewThread {
        handle.write(Data(files.map { "\($0.size)\n" }.joined().utf8))
        handle.closeFile()
    }
}
