import Foundation

/// The output of the tour with `--json`.
enum JSONOutput {
    /// An array with an object for each recipe. Every object has every key; unknown values are null.
    static func text(of comparisons: [Comparison]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(comparisons.map(Row.init)), as: UTF8.self) + "\n"
    }

    private struct Row: Encodable {
        let comparison: Comparison

        enum CodingKeys: CodingKey {
            case recipe, legacy, ported, agree, legacySeconds, portedSeconds, legacyThreads, portedThreads
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(comparison.recipe, forKey: .recipe)
            try container.encode(comparison.legacy.text, forKey: .legacy)
            try container.encode(comparison.ported.text, forKey: .ported)
            try container.encode(comparison.agree, forKey: .agree)
            try container.encode(comparison.legacy.seconds, forKey: .legacySeconds)
            try container.encode(comparison.ported.seconds, forKey: .portedSeconds)
            try container.encode(comparison.legacy.threads, forKey: .legacyThreads)
            try container.encode(comparison.ported.threads, forKey: .portedThreads)
        }
    }
}
