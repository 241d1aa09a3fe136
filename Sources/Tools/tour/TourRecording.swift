import Foundation
import TaskOperationsDiagnosis

/// Records the queues of the ported sides, if the arguments request it.
struct TourRecording {
    private let recorder: FlightRecorder?
    private let trace: String
    private let pictures: Arguments.Pictures

    init(_ pictures: Arguments.Pictures) throws {
        self.pictures = pictures
        trace =
            pictures.trace
            ?? FileManager.default.temporaryDirectory.appending(path: "tour-\(UUID().uuidString).trace").path
        recorder = pictures == Arguments.Pictures() ? nil : try FlightRecorder(writingTo: trace, capacity: .max)
    }

    /// Ends the recording, and draws the timeline.
    func finish() throws {
        guard let recorder else { return }
        recorder.stop()
        if let timeline = pictures.timeline {
            let read = try Trace(contentsOf: trace)
            let text = timeline.hasSuffix(".html") ? read.timelineHTML : read.timelineSVG()
            try text.write(toFile: timeline, atomically: true, encoding: .utf8)
        }
        if pictures.trace == nil { try FileManager.default.removeItem(atPath: trace) }
    }
}
