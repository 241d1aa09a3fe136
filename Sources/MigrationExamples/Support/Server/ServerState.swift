import Foundation
import TaskOperations

/// The state that the server's thread shares with other threads.
final class ServerState: Sendable {
    private struct Content: Sendable {
        var isStopped = false
        var isPaused = false
        var requests: [String] = []
        var departures = 0
    }

    private let content = Lock(Content())
    private let pipe: (reading: Int32, writing: Int32)

    init() throws {
        var ends: [Int32] = [-1, -1]
        if Foundation.pipe(&ends) != 0 { throw ServerProblem("pipe", errno: errno) }
        for end in ends { LoopbackSocket.doNotWait(end) }
        pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.reading)
        close(pipe.writing)
    }

    /// The requested states of the server.
    var orders: (isStopped: Bool, isPaused: Bool) { content.withLock { ($0.isStopped, $0.isPaused) } }

    var requests: [String] { content.withLock { $0.requests } }

    var departures: Int { content.withLock { $0.departures } }

    func noteRequest(_ path: String) {
        content.withLock { $0.requests.append(path) }
    }

    func noteDeparture() {
        content.withLock { $0.departures += 1 }
    }

    func setPaused(_ isPaused: Bool) {
        content.withLock { $0.isPaused = isPaused }
        wake()
    }

    func stop() {
        content.withLock { $0.isStopped = true }
        wake()
    }

    // MARK: - Waking the thread

    /// A descriptor that becomes readable when the requested states change.
    var wakeUp: Int32 { pipe.reading }

    func takeWakeUps() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(pipe.reading, &bytes, bytes.count) > 0 {}
    }

    /// Wakes the thread. If the pipe is full, the thread is about to wake up anyway.
    private func wake() {
        var byte: UInt8 = 0
        _ = write(pipe.writing, &byte, 1)
    }
}
