internal import Dispatch
public import Foundation
import Synchronization
public import TaskOperations

/// Writes the events of operations to a file in the Trace Event Format. You can read the file with `ui.perfetto.dev`,
/// `chrome://tracing` and `Trace`.
///
/// ```swift
/// let recorder = try TraceRecorder(writingTo: URL(filePath: "trace.json"))
/// queue.addObserver(recorder)            // or TaskOperationQueue.addObserver(recorder)
/// …
/// queue.removeObserver(recorder)
/// try recorder.finish()
/// ```
///
/// Each queue is a process of the trace, and each permit is a thread of the process. One slice shows how long an
/// operation waits, and another slice how long it holds its permit. Arrows lead from its dependencies to the operation.
///
/// Buffered events are written every half second. You can open the file even if the process has crashed.
///
/// The recorder uses 16 bytes for each operation that has not started, and up to two kilobytes for each queue that was
/// not released. Its other state takes a few megabytes.
public final class TraceRecorder: TaskOperationObserver {
    private let writer: Lock<TraceWriter>
    private let timer = Lock<FlushTimer?>(nil)

    /// Creates a recorder and its file. An existing file is replaced.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - maximumFileSize: The size in bytes at which a new file begins, at least 1. If nil, the size is unlimited.
    ///     The full file is renamed with the suffix `.1`, and replaces an earlier file of that name. You can open each
    ///     of the two files separately. A file contains the names of the queues that have events in the file.
    /// - Throws: `TraceError.file` if the file cannot be created.
    public init(writingTo url: URL, maximumFileSize: Int? = nil) throws(TraceError) {
        if let maximumFileSize {
            require(maximumFileSize >= 1, "maximumFileSize is \(maximumFileSize); it must be at least 1.")
        }
        let file = try TraceFile(url, maximumSize: maximumFileSize)
        writer = Lock(TraceWriter(file))
        timer.withLock { $0 = FlushTimer { [weak self] in self?.flush() } }
    }

    deinit {
        writer.withLock { $0.finish() }
    }

    public func operationChanged(_ event: TaskOperationEvent) {
        if writer.withLock({ $0.record(event) }) { return }
        let width = event.operation.scheduler.flatMap { $0.isWithoutQueue ? nil : $0.width }
        writer.withLock { $0.record(event, width: width) }
    }

    public func queueWasReleased(_ queue: QueueLabel) {
        writer.withLock { $0.forget(queue.number) }
    }

    private func flush() {
        writer.withLock { $0.flush() }
    }

    /// Writes the remaining events and closes the file. Later events are not recorded and take no memory.
    ///
    /// - Throws: `TraceError.file` if an event could not be written.
    public func finish() throws(TraceError) {
        let timer = timer.withLock { $0.take() }
        extendLifetime(timer)
        let error = writer.withLock { writer in
            writer.finish()
            return writer.error
        }
        if let error { throw error }
    }

    /// The number of recorded events, and their size in bytes.
    package var written: (events: Int, bytes: Int) { writer.withLock { ($0.eventCount, $0.byteCount) } }

    /// The number of queues of which the recorder keeps the state.
    package var queueCount: Int { writer.withLock { $0.queueCount } }
}

/// Calls a function every half second, on its own queue.
private final class FlushTimer: @unchecked Sendable {
    // `source` is constant, and any thread may use a Dispatch source.
    private let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "TraceRecorder"))

    init(_ action: @escaping @Sendable () -> Void) {
        source.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(500))
        source.setEventHandler(handler: action)
        source.resume()
    }

    deinit { source.cancel() }
}

/// An error that occurred while a trace was written or read.
public enum TraceError: Error, Sendable {
    /// A file could not be opened, written or read.
    case file(path: String, reason: String)
    /// A line of a file is not part of a trace.
    case line(Int, path: String, reason: String)
}

extension TraceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)"
        case .line(let line, let path, let reason): "\(path):\(line): \(reason)"
        }
    }
}
