/// The findings of an audit, in the form of the JSON output. Members are only added; the schema number changes if a
/// member changes its meaning.
public struct Report: Codable, Sendable {
    public static let schema = 1

    public var schema = Report.schema
    public var files: Int
    public var lines: Int
    /// The contribution of the compiler's index; nil if there was none.
    public var index: IndexUse?
    public var summary: Summary
    /// The patterns that were found, the most frequent first.
    public var patterns: [PatternRow]
    /// The findings, by file and line.
    public var findings: [Entry]
    /// The files with findings, by wave.
    public var waves: [Wave]
    public var rings: [Ring]
    /// Files that could not be read, and mistakes in comments for the audit.
    public var notes: [Note]
    /// The files to begin with. Reports of older versions do not contain this or `folders`.
    public var start: Start?
    public var folders: [FolderRow]?

    public struct IndexUse: Codable, Sendable {
        public var stores: [String]
        /// The number of files in the index.
        public var files: Int
        /// The files that were changed after the index was written. For these, the audit relies on names.
        public var stale: [String]
    }

    public struct Summary: Codable, Sendable {
        /// The number of remaining sites: findings without those that a comment allows.
        public var sites = 0
        public var allowed = 0
        public var certain = 0
        public var likely = 0
        public var files = 0
        /// The sum of the estimated times, in quarters of an hour.
        public var effort = 0
        public var withoutRecipe = 0
        public var families: [String: Int] = [:]
        /// The effort in hours, from an estimate for each declaration. `testSites` and `testHours` are the parts in tests;
        /// `checkingSites` and `checkingHours` are the parts for strict checking.
        public var hours: Double?
        public var testSites: Int?
        public var testHours: Double?
        public var checkingSites: Int?
        public var checkingHours: Double?
    }

    public struct PatternRow: Codable, Sendable {
        public var id: String
        public var family: String
        public var title: String
        public var recipe: String?
        public var effort: Int
        public var step: Int
        public var meaning: String
        public var sites: Int
        public var files: Int
        /// The number of the sites that are in tests.
        public var testSites: Int?
        public var hours: Double?
    }

    public struct Entry: Codable, Sendable {
        public var pattern: String
        public var file: String
        public var line: Int
        public var column: Int
        public var certainty: String
        /// The condition of `#if` around the finding.
        public var condition: String?
        /// The type and function that contain the finding.
        public var context: String?
        public var source: String
        /// The reason for keeping the site, from a comment.
        public var allowance: String?
        /// An identifier that stays the same in older and newer sources while the line is the same.
        public var fingerprint: String
    }

    public struct Wave: Codable, Sendable {
        public var number: Int
        public var effort: Int
        public var sites: Int
        public var files: [FileRow]
    }

    public struct FileRow: Codable, Sendable {
        public var path: String
        public var sites: Int
        public var effort: Int
        /// The wave, from 1. Only files of earlier waves and of the same wave use a wave. No other remaining file uses
        /// a file of wave 1.
        public var wave: Int
        /// The layer, from 1. A layer uses only files of earlier layers. Layer 1 uses no file that has findings to
        /// move.
        public var layer: Int
        /// The files with findings that the file uses. `usedBy` are the files that use it.
        public var uses: [String]
        public var usedBy: [String]
        /// The other files of its ring, which have to move with it.
        public var movesWith: [String]?
        /// The steps of the guide for the file's findings.
        public var steps: [Int]
        /// The pattern that needs the most thought.
        public var hardest: String
        /// The file's types with findings. Types that no other type of the file uses are first.
        public var types: [TypeRow]
    }

    public struct TypeRow: Codable, Sendable {
        public var name: String
        public var sites: Int
        public var effort: Int
        public var wave: Int
    }

    public struct Ring: Codable, Sendable {
        public var files: [String]
        /// The use within the ring that is cheapest to cut.
        public var cutFrom: String
        public var cutTo: String
        /// The number of uses that would be cut.
        public var cutCount: Int
        /// All uses whose removal opens the ring, the cheapest first.
        public var cuts: [Cut]?
    }

    public struct Cut: Codable, Sendable {
        public var from: String
        public var to: String
        public var count: Int
    }
}
