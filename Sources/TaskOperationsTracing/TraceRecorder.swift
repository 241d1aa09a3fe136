internal import Dispatch
public import Foundation
@_spi(Lock) public import TaskOperations

/// Writes the events of operations to a file in the Trace Event Format, which `ui.perfetto.dev`, `chrome://tracing` and
/// `Trace` can read.
///
/// ```swift
/// let recorder = try TraceRecorder(writingTo: URL(filePath: "trace.json"))
/// queue.addObserver(recorder)            // or TaskOperationQueue.observeAll(recorder)
/// …
/// queue.removeObserver(recorder)
/// try recorder.finish()
/// ```
///
/// Each queue is a process of the trace, and each permit is a lane of the process. One slice shows the time for which
/// an operation held the permit, another slice its waiting time, and arrows lead from its dependencies. Buffered events
/// are written every half second. A file that ends in a crash can still be opened.
///
/// The recorder uses 16 bytes for each operation that has not started, and a few megabytes for everything else.
public final class TraceRecorder: TaskOperationObserver {
    private let writer: Lock<TraceWriter>
    private let timer = Lock<FlushTimer?>(nil)

    /// Creates a recorder and its file. An existing file is replaced.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - maximumFileSize: The number of bytes after which a new file begins, at least 1; nil for no limit. The
    ///     previous file is renamed with the suffix `.1` and replaces an earlier file of that name. Each of the two
    ///     files can be opened separately.
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
        let width = event.operation.queue?.maxConcurrentOperationCount
        writer.withLock { $0.record(event, width: width) }
    }

    /// Writes the buffered events.
    private func flush() {
        writer.withLock { $0.flush() }
    }

    /// Writes the remaining events and closes the file. Later events are not recorded.
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

    /// The number of events that were written, and their size in bytes.
    package var written: (events: Int, bytes: Int) { writer.withLock { ($0.eventCount, $0.byteCount) } }
}

/// Calls a function every half second, on its own queue.
private final class FlushTimer: @unchecked Sendable {
    // A constant. Any thread may use a dispatch source.
    private let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "TraceRecorder"))

    init(_ action: @escaping @Sendable () -> Void) {
        source.schedule(deadline: .now() + .milliseconds(500), repeating: .milliseconds(500))
        source.setEventHandler(handler: action)
        source.resume()
    }

    deinit { source.cancel() }
}

/// An error of writing or reading a trace.
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
