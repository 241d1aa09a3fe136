import Foundation
import Simulation
import TestSupport
import Testing

/// The initial inputs of the fuzzer, and the inputs that it found. See README.md.
@Suite("The inputs that are kept for fuzzing", .inTurns, .endsInTime)
struct CorpusTests {
    private static let files: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }
    }()

    @Test("the library does as the model says")
    func corpus() throws {
        #expect(!Self.files.isEmpty)
        for file in Self.files {
            var choices = ByteChoices(try Data(contentsOf: file))
            let report = Program(from: &choices).run(keepsTrace: true)
            #expect(report.violations.isEmpty, "\(file.lastPathComponent): \(report)")
        }
    }
}
