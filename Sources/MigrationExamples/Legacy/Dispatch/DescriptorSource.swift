import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads all bytes of a pipe, until its other end is closed.
    public static func descriptorSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: descriptor-source
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let received = ReceivedBytes()
        let isOver = DispatchSemaphore(value: 0)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "pipe"))
        source.setEventHandler {
            if received.takeAll(from: descriptor) { source.cancel() }
        }
        source.setCancelHandler { isOver.signal() }  // before this the descriptor must not be closed
        source.activate()

        writeSizes(of: input.files.prefix(40), to: pipe.fileHandleForWriting)
        isOver.wait()
        return RecipeResult(received.text)
        // endregion
    }
}

/// Writes a line a file, and closes the pipe.
private func writeSizes(of files: ArraySlice<InputFile>, to handle: FileHandle) {
    Thread.detachNewThread {
        handle.write(Data(files.map { "\($0.size)\n" }.joined().utf8))
        handle.closeFile()
    }
}

// region: descriptor-source-bytes
/// Reached by the queue of the source only, until that is cancelled.
private final class ReceivedBytes {
    private var bytes: [UInt8] = []

    /// Reads the available bytes: a hang-up is reported once, even if bytes are left. Returns whether it was the end.
    func takeAll(from descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 { return errno != EAGAIN && errno != EINTR }
            if count == 0 { return true }
            bytes += buffer[..<count]
        }
    }

    var text: String { "\(bytes.split(separator: UInt8(ascii: "\n")).count) lines, \(SHA256.digest(of: bytes))" }
}
// endregion
