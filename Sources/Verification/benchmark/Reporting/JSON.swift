import Foundation

/// Writes a figure as an object, on its own line.
enum JSON {
    static func text(_ figure: Figure) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(Row(figure: figure)), as: UTF8.self)
    }

    private struct Row: Encodable {
        let figure: Figure

        enum CodingKeys: String, CodingKey {
            case `case`, variant, subject, n, nsPerOperation, minNs, maxNs, bytesPerOperation, threads
        }

        /// Encodes nil as null.
        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: CodingKeys.self)
            try row.encode(figure.caseName, forKey: .case)
            try row.encode(figure.variant, forKey: .variant)
            try row.encode(figure.subject.rawValue, forKey: .subject)
            try row.encode(figure.size, forKey: .n)
            try row.encode(figure.nsPerOperation.median, forKey: .nsPerOperation)
            try row.encode(figure.nsPerOperation.minimum, forKey: .minNs)
            try row.encode(figure.nsPerOperation.maximum, forKey: .maxNs)
            try row.encode(figure.bytesPerOperation, forKey: .bytesPerOperation)
            try row.encode(figure.threads, forKey: .threads)
        }
    }
}
