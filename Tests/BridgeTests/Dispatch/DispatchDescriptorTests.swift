import Dispatch
import Foundation
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

/// A pipe whose ends do not block and are closed when the pipe is freed.
private final class Pipe: @unchecked Sendable {  // A test closes an end only where nothing else uses it.
    private(set) var readEnd: Int32
    private(set) var writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            // Child processes would inherit these files, and the process may open only a few.
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Foundation.write(writeEnd, $0.baseAddress, $0.count) }
    }

    /// Reads from the pipe. Returns nil if it is empty, and "" at its end.
    func read(_ count: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = Foundation.read(readEnd, &bytes, count)
        return length < 0 ? nil : String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    /// Writes until the pipe is full.
    func fill() {
        let bytes = [UInt8](repeating: 0, count: 4096)
        while Foundation.write(writeEnd, bytes, bytes.count) > 0 {}
    }

    /// Reads until the pipe is empty.
    func drain() {
        while read(4096)?.isEmpty == false {}
    }
}

@Suite("Readiness of descriptors as sequences", .inTurns)
struct DispatchDescriptorTests {
    private let pipe = Pipe()

    @Test("every chunk is announced, and the end is")
    func chunks() async throws {
        var chunks: [String] = []
        var readiness = DispatchSource.readEvents(fileDescriptor: pipe.readEnd).makeAsyncIterator()
        for chunk in ["a", "bc", "def"] {
            let waiting = Task.immediate { [pipe] in
                var readiness = DispatchSource.readEvents(fileDescriptor: pipe.readEnd).makeAsyncIterator()
                return try await readiness.next()
            }
            pipe.write(chunk)
            #expect(try await waiting.value?.contains(.readable) == true)
            #expect(try await readiness.next() != nil)
            chunks.append(pipe.read(100) ?? "nothing")
        }
        #expect(chunks == ["a", "bc", "def"])
        pipe.closeWriteEnd()
        #expect(try await readiness.next()?.contains(.hangUp) == true)
        #expect(pipe.read(1) == "")
    }

    @Test("bytes that are left are announced again, also after the other end was closed")
    func leftBytes() async throws {
        pipe.write("abc")
        pipe.closeWriteEnd()
        var text = ""
        for try await _ in DispatchSource.readEvents(fileDescriptor: pipe.readEnd) {
            let byte = try #require(pipe.read(1))
            if byte.isEmpty { break }
            text += byte
        }
        #expect(text == "abc")
    }

    @Test("a descriptor that was read empty is not announced")
    func readEmpty() async throws {
        pipe.write("a")
        var readiness = DispatchSource.readEvents(fileDescriptor: pipe.readEnd).makeAsyncIterator()
        #expect(try await readiness.next() == .readable)
        #expect(pipe.read(10) == "a")
        let announced = Recorder<String>()
        let waiting = Task.immediate { [pipe] in
            var readiness = DispatchSource.readEvents(fileDescriptor: pipe.readEnd).makeAsyncIterator()
            _ = try await readiness.next()
            announced.record("announced")
        }
        // The same thread serves another wait. After that, the thread has also processed the first wait.
        let other = Pipe()
        let otherWait = Task.immediate {
            var readiness = DispatchSource.readEvents(fileDescriptor: other.readEnd).makeAsyncIterator()
            _ = try await readiness.next()
        }
        other.write("b")
        try await otherWait.value
        #expect(announced.events.isEmpty)
        pipe.write("c")
        try await waiting.value
        #expect(announced.events == ["announced"])
    }

    @Test("a full pipe can be written when it was read")
    func writable() async throws {
        var readiness = DispatchSource.writeEvents(fileDescriptor: pipe.writeEnd).makeAsyncIterator()
        #expect(try await readiness.next() == .writable)
        pipe.fill()
        let waiting = Task.immediate { [pipe] in
            var readiness = DispatchSource.writeEvents(fileDescriptor: pipe.writeEnd).makeAsyncIterator()
            return try await readiness.next()
        }
        pipe.drain()
        #expect(try await waiting.value == .writable)
    }

    @Test("a wait to write into a full pipe ends when the reader is closed")
    func readerGone() async throws {
        pipe.fill()
        let waiting = Task.immediate { [pipe] in
            var readiness = DispatchSource.writeEvents(fileDescriptor: pipe.writeEnd).makeAsyncIterator()
            return try await readiness.next()
        }
        pipe.closeReadEnd()
        #expect(try await waiting.value?.contains(.failed) == true)
    }

    @Test("files, folders and /dev/null are always ready", arguments: ["/dev/null", "/", #filePath])
    func alwaysReady(path: String) async throws {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var readiness = DispatchSource.readEvents(fileDescriptor: descriptor).makeAsyncIterator()
        #expect(try await readiness.next()?.contains(.readable) == true)
    }

    @Test("cancelling the task ends the iteration, and the descriptor stays open")
    func cancellation() async throws {
        let waiting = Task.immediate { [pipe] in
            for try await _ in DispatchSource.readEvents(fileDescriptor: pipe.readEnd) { return "ready" }
            return "ended"
        }
        waiting.cancel()
        #expect(try await waiting.value == "ended")
        pipe.write("a")
        let cancelled = Task { [pipe] in
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in DispatchSource.readEvents(fileDescriptor: pipe.readEnd) { return "ready" }
            return "ended"
        }
        #expect(try await cancelled.value == "ended")
        for try await _ in DispatchSource.readEvents(fileDescriptor: pipe.readEnd) { break }
        #expect(fcntl(pipe.readEnd, F_GETFD) >= 0)
        #expect(pipe.read(1) == "a")
    }

    @Test("a descriptor that is not open is an error that says so")
    func notOpen() async throws {
        let error = await #expect(throws: SystemCallError.self) {
            for try await _ in DispatchSource.readEvents(fileDescriptor: 99_999) {}
        }
        #expect(error?.code == EBADF)
        #expect("\(error!)".contains("Bad file descriptor"))
    }

    @Test("many pipes are waited for at once")
    func many() async throws {
        let pipes = (0..<100).map { _ in Pipe() }
        let waits = pipes.map { pipe in
            Task.immediate {
                for try await _ in DispatchSource.readEvents(fileDescriptor: pipe.readEnd) { return pipe.read(10) }
                return nil
            }
        }
        for (number, pipe) in pipes.enumerated().reversed() { pipe.write("\(number)") }
        for (number, wait) in waits.enumerated() { #expect(try await wait.value == "\(number)") }
    }

    /// Each runs in its own process, because the limit applies to the whole process.
    @Test("more waits than the process may have open files come to their ends", .prompt)
    func moreWaitsThanFiles() async {
        await #expect(processExitsWith: .success) {
            let tests = DispatchDescriptorTests()
            await startDispatch()
            limitOpenFiles(to: 64)
            let waits = (0..<300).map { _ in tests.startWait(on: tests.pipe) }
            tests.pipe.write("a")
            for wait in waits {
                let isReadable = try await wait.value
                #expect(isReadable == true)
            }
        }
    }

    @Test("waits end if the limit is lowered below the number of open descriptors", .prompt)
    func loweredLimit() async {
        await #expect(processExitsWith: .success) {
            let tests = DispatchDescriptorTests()
            await startDispatch()
            // On a busy machine, Dispatch opens files that describe its threads, and stops the process if it cannot.
            let spare = (0..<8).map { _ in open("/dev/null", O_RDONLY) }
            let pipes = (0..<100).map { _ in Pipe() }
            // The first wait opens the pipe that wakes the thread. After the limit is lowered, that could fail.
            let first = tests.startWait(on: tests.pipe)
            limitOpenFiles(to: Int(spare.max()! + 1))
            for descriptor in spare { close(descriptor) }
            let waits = [first] + pipes.map { tests.startWait(on: $0) }
            tests.pipe.write("a")
            for pipe in pipes.reversed() { pipe.write("a") }
            for wait in waits {
                let isReadable = try await wait.value
                #expect(isReadable == true)
            }
        }
    }

    private func startWait(on pipe: Pipe) -> Task<Bool?, any Error> {
        Task.immediate {
            var readiness = DispatchSource.readEvents(fileDescriptor: pipe.readEnd).makeAsyncIterator()
            return try await readiness.next()?.contains(.readable)
        }
    }

    @Test("both directions of a socket are waited for at once")
    func socketPair() async throws {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        #expect(socketpair(AF_UNIX, stream, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let waiting = Task.immediate { [end = ends[0]] in
            var readiness = DispatchSource.readEvents(fileDescriptor: end).makeAsyncIterator()
            return try await readiness.next()
        }
        var readiness = DispatchSource.writeEvents(fileDescriptor: ends[0]).makeAsyncIterator()
        #expect(try await readiness.next() == .writable)
        #expect(write(ends[1], "x", 1) == 1)
        #expect(try await waiting.value == .readable)
    }
}

/// Makes Dispatch open its own files now. On a busy machine, it would open them later, and stop the process if it could
/// not open them.
private func startDispatch() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
    }
}
