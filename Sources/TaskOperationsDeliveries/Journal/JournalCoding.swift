#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#elseif canImport(Foundation)
    internal import Foundation
#endif

/// The conversion of payloads to bytes and back.
public struct JournalCoding<Payload: Sendable>: Sendable {
    let encode: @Sendable (Payload) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Payload

    /// Creates a coding. The functions are called in the tasks that enqueue and pull.
    ///
    /// - Parameters:
    ///   - encode: Returns the bytes of a payload. An error is thrown to the caller of `enqueue`.
    ///   - decode: Returns the payload of bytes. If it throws, the delivery is a dead letter, and its reason contains
    ///     the error.
    public init(
        encode: @escaping @Sendable (Payload) throws -> [UInt8], decode: @escaping @Sendable ([UInt8]) throws -> Payload
    ) {
        self.encode = encode
        self.decode = decode
    }
}

#if canImport(FoundationEssentials) || canImport(Foundation)
    extension JournalCoding where Payload: Codable {
        /// The conversion to JSON.
        public static var json: JournalCoding {
            let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
            return JournalCoding {
                try Array(encoder.encode($0))
            } decode: {
                try decoder.decode(Payload.self, from: Data($0))
            }
        }
    }
#endif

extension JournalCoding<[UInt8]> {
    /// Stores bytes as they are.
    public static var bytes: JournalCoding {
        JournalCoding {
            $0
        } decode: {
            $0
        }
    }
}
