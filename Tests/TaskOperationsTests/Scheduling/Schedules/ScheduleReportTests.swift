#if canImport(Runtime) && os(Linux)
    import Foundation
    import Synchronization
    import TestSupport
    import Testing

    @testable import TaskDump

    @Suite("The lines of a failing schedule", .prompt, .endsInTime)
    struct ScheduleReportTests {
        @Test("The list of the loaded images is safe while other threads map files")
        func images() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = (0..<20).map { folder.appending(path: "\($0)") }
            for file in files { try Data(count: 1 << 16).write(to: file) }
            let isDone = Atomic(false)
            let mapping = Thread {
                while !isDone.load(ordering: .relaxed) {
                    _ = files.map { try? Data(contentsOf: $0, options: .alwaysMapped) }
                }
            }
            mapping.start()
            defer { isDone.store(true, ordering: .relaxed) }
            for _ in 0..<100 { #expect(!Symbols.images().isEmpty) }
        }
    }
#endif
