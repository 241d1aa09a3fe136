import Dispatch

/// Reads files, and reports the results to completion handlers. It represents an existing library without support for
/// tasks.
public struct CallbackReader: Sendable {
    private let queue = DispatchQueue(label: "CallbackReader", attributes: .concurrent)

    /// Makes a reader.
    public init() {}

    /// Reads the first 4 KiB of a file.
    ///
    /// - Parameter completion: Called once, on a thread of the reader.
    public func readHead(of file: InputFile, completion: @escaping @Sendable (Result<[UInt8], any Error>) -> Void) {
        queue.async { completion(Result { try file.contents(upTo: 4096) }) }
    }
}
