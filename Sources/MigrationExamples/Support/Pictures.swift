public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

// The parts that both sides of the whole systems share: files that represent pictures, and the outcomes of their
// downloads.

extension RecipeInput {
    /// The files to download: all files, or a selection from the whole folder if there are many.
    public var pictures: [InputFile] {
        let limit = 60
        if files.count <= limit { return files }
        return (0..<limit).map { files[$0 * files.count / limit] }
    }
}

extension URLSessionConfiguration {
    /// A configuration without a cache and with a long timeout: on a busy machine, an answer may take long.
    public static var patient: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // On Linux, the process stops if a task is cancelled while its session looks into a cache:
        // https://github.com/swiftlang/swift-corelibs-foundation/issues/3296
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}

/// The result of decoding the bytes of a file.
public struct Picture: Hashable, Sendable {
    /// The number of bytes from which the picture was decoded.
    public let size: Int
    /// Identifies the contents of the picture.
    public let digest: Digest

    /// Decodes a picture, which takes some time.
    public init(decoding data: Data) {
        size = data.count
        digest = SHA256.digest(of: [UInt8](data))
    }

    /// A small form of the picture.
    public var thumbnail: Picture { Picture(decoding: Data(digest.bytes.prefix(4))) }

    /// Creates one picture from many. The order of the pictures has no effect.
    public init(overviewOf pictures: [Picture]) {
        let digests = pictures.map(\.digest.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        self.init(decoding: Data(digests.joined()))
    }
}

/// The server had no file to send.
public struct DownloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status of the response.
    public let status: Int
    /// The reason that the server gave.
    public let reason: String

    public var description: String { "\(reason) (\(status))" }

    /// Returns the bytes of a response.
    ///
    /// - Throws: `DownloadFailure` if the response is not a file.
    public static func check(_ data: Data, _ response: URLResponse?) throws -> Data {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 200
        if status == 200 { return data }
        throw DownloadFailure(status: status, reason: String(decoding: data, as: UTF8.self))
    }
}

extension DigestList {
    /// Adds the outcome of the download of a file.
    public mutating func add(_ file: InputFile, _ outcome: Result<Picture, any Error>) {
        let digest: Result<Digest, any Error> = outcome.map(\.digest).mapError { error in
            switch error {
            case let failure as DownloadFailure: FileProblem(file.path, failure.reason)
            case let error as URLError where error.code == .cancelled: CancellationError()
            default: error
            }
        }
        add(file, digest, size: try? outcome.get().size)
    }
}
