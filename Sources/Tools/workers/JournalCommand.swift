import Foundation
import SourceAudit
import TaskOperationsDeliveries

/// Lists a journal: `workers journal FILE`.
struct JournalCommand {
    private struct Usage: Error, CustomStringConvertible {
        let description = "usage: workers journal FILE, where FILE is the directory of a journal or one of its files"
    }

    private let path: String

    init(_ arguments: some Sequence<String>) throws {
        guard let path = arguments.first(where: { _ in true }) else { throw Usage() }
        self.path = path
    }

    func run() throws {
        let listing = try JournalListing(path)
        try StandardStreams.writeOutput(Self.text(of: listing))
        if let error = listing.error { throw error }
    }

    static func text(of listing: JournalListing) -> String {
        var lines = listing.segments.map { segment in
            "\(segment.path): version \(segment.version), \(segment.recordCount) records, \(segment.size) bytes"
        }
        if listing.interrupted > 0 {
            lines.append("\(listing.interrupted) bytes of a write that was interrupted, after the last record")
        }
        if listing.error == nil { lines.append("All checksums are correct.") }
        let oldest = listing.oldest.map { time in
            ", the oldest since \(Date(timeIntervalSince1970: Double(time) / 1000).formatted(.iso8601))"
        }
        lines.append("waiting: \(listing.waiting), held: \(listing.held)\(oldest ?? "")")
        lines.append("dead letters: \(listing.deadLetters.count)")
        for letter in listing.deadLetters {
            let identity = letter.identity.map { " (\($0))" } ?? ""
            lines.append("  \(letter.id)\(identity): \(letter.failures) failures, \(letter.reason)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
