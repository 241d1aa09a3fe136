import Foundation
import TaskOperations
import TaskOperationsDiagnosis

/// Records the queues of the ported sides, if the arguments request it.
struct TourRecording {
    private let recorder: TraceRecorder?
    private let trace: URL?
    private let pictures: Arguments.Pictures

    init(_ pictures: Arguments.Pictures) throws {
        self.pictures = pictures
        if pictures == Arguments.Pictures() {
            (recorder, trace) = (nil, nil)
            return
        }
        let url = pictures.trace.map { URL(filePath: $0) } ?? Self.temporaryFile
        let recorder = try TraceRecorder(writingTo: url)
        TaskOperationQueue.addObserver(recorder)
        (self.recorder, trace) = (recorder, url)
    }

    private static var temporaryFile: URL {
        FileManager.default.temporaryDirectory.appending(path: "tour-\(UUID().uuidString).json")
    }

    /// Writes the remaining events of the trace, and the timeline.
    func finish() throws {
        guard let recorder, let trace else { return }
        TaskOperationQueue.removeObserver(recorder)
        try recorder.finish()
        if let timeline = pictures.timeline {
            try Trace(contentsOf: trace).timelineSVG().write(toFile: timeline, atomically: true, encoding: .utf8)
        }
        if pictures.trace == nil { try FileManager.default.removeItem(at: trace) }
    }
}
