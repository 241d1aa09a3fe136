internal import Foundation
internal import Synchronization
import TaskOperations

/// One connection. Commands are sent in the order of the calls, without waiting for replies. A dedicated thread
/// connects and reads. Each call ends within a limited time, regardless of the server.
final class RedisConnection: Sendable {
    private struct Call: Sendable {
        let start: ContinuousClock.Instant
        var missing: Int
        var replies: [RESPValue] = []
        let continuation: CheckedContinuation<[RESPValue], any Error>
    }

    private struct State: Sendable {
        var outgoing: [UInt8] = []
        /// Whether a thread sends the outgoing bytes; also true until the connection is established.
        var isSending = true
        /// The waiting calls. Their numbers are consecutive, in the order of the calls.
        var calls: [Int: Call] = [:]
        var firstCall = 0
        var error: RedisConnectionError?
    }

    private let state = Mutex(State())
    private let socket = Mutex<SharedSocket?>(nil)
    private let timeout: Duration

    /// Begins to connect.
    ///
    /// - Parameter timeout: The time from a call until the arrival of its last reply. When it is over, the connection
    ///   is closed. Includes the time until the connection is established.
    init(to address: RedisAddress, password: String?, timeout: Duration = .seconds(10)) {
        self.timeout = timeout
        let hello = ["HELLO", "3"] + (password.map { ["AUTH", "default", $0] } ?? [])
        Self.startThread { self.serve(address, hello) }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 1 << 18
        thread.start()
    }

    var isBroken: Bool { state.withLock { $0.error != nil } }

    /// Sends commands, and waits for their replies.
    func send(_ commands: [[String]]) async throws -> [RESPValue] {
        var bytes: [UInt8] = []
        for command in commands { RESPValue.encode(command, into: &bytes) }
        let start = ContinuousClock.now
        return try await withTimeoutHandler(timeout, clock: ContinuousClock()) {
            try await withCheckedThrowingContinuation { continuation in
                let error = state.withLock { state -> RedisConnectionError? in
                    if let error = state.error { return error }
                    state.outgoing += bytes
                    state.calls[state.firstCall + state.calls.count] = Call(
                        start: start, missing: commands.count, continuation: continuation)
                    return nil
                }
                if let error { return continuation.resume(throwing: error) }
                sendOutgoing()
                // If the time was over before the call was stored, the timer has not found it.
                if ContinuousClock.now - start >= timeout { endCalls(begunAt: start) }
            }
        } onTimeout: {
            self.endCalls(begunAt: start)
        }
    }

    /// Closes the connection. Waiting calls fail.
    func close() { end(RedisConnectionError(description: "The connection was closed.")) }
}

/// A socket that several threads use at once.
private final class SharedSocket: Sendable {
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
}

extension RedisConnection {
    private func serve(_ address: RedisAddress, _ hello: [String]) {
        do throws(RedisConnectionError) {
            let shared = SharedSocket(try Socket.connect(to: address, timeout: timeout))
            socket.withLock { $0 = shared }
            if isBroken { return }
            var bytes: [UInt8] = []
            RESPValue.encode(hello, into: &bytes)
            _ = try shared.socket.write(bytes, mayBlock: true)
            try read(from: shared)
        } catch {
            end(error)
        }
    }

    private func read(from shared: SharedSocket) throws(RedisConnectionError) {
        var parser = RESPParser()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isGreeted = false
        while true {
            let count = try shared.socket.read(into: &buffer)
            parser.append(buffer.prefix(count))
            do {
                while let reply = try parser.next() {
                    if isGreeted { try receive(reply) } else { try greet(reply) }
                    isGreeted = true
                }
            } catch let error as RedisConnectionError {
                throw error
            } catch {
                throw RedisConnectionError(description: "\(error)")
            }
        }
    }

    private func greet(_ reply: RESPValue) throws {
        if case .error(let message) = reply { throw RedisConnectionError(description: message) }
        state.withLock { $0.isSending = false }
        sendOutgoing()
    }

    private func receive(_ reply: RESPValue) throws {
        let call = try state.withLock { state -> Call? in
            let number = state.firstCall
            // The next command would receive this reply.
            guard state.calls[number] != nil else {
                throw RedisConnectionError(description: "The server has replied to no command.")
            }
            state.calls[number]!.missing -= 1
            state.calls[number]!.replies.append(reply)
            if state.calls[number]!.missing > 0 { return nil }
            state.firstCall += 1
            return state.calls.removeValue(forKey: number)
        }
        call?.continuation.resume(returning: call!.replies)
    }

    /// Ends the connection if a call that began at this time, or before, still waits. The timer of a call can fire just
    /// after its reply.
    private func endCalls(begunAt start: ContinuousClock.Instant) {
        let isOverdue = state.withLock { state in state.calls.values.contains { $0.start <= start } }
        if isOverdue { end(RedisConnectionError(description: "No reply within \(timeout).")) }
    }

    private func end(_ error: RedisConnectionError) {
        let calls = state.withLock { state in
            if state.error == nil { state.error = error }
            state.outgoing = []
            defer { state.calls = [:] }
            return state.calls
        }
        socket.withLock { $0 }?.socket.interrupt()
        for call in calls.values { call.continuation.resume(throwing: error) }
    }
}

// MARK: - Sending

extension RedisConnection {
    /// Sends the outgoing bytes without blocking the thread, unless another thread sends. If the server does not read,
    /// a new thread sends the rest.
    private func sendOutgoing() {
        let mustSend = state.withLock { state in
            if state.isSending || state.outgoing.isEmpty { return false }
            state.isSending = true
            return true
        }
        if mustSend { writeOutgoing(mayBlock: false) }
    }

    private func writeOutgoing(mayBlock: Bool) {
        while true {
            let bytes = state.withLock { state in
                if state.outgoing.isEmpty { state.isSending = false }
                defer { state.outgoing = [] }
                return state.outgoing
            }
            guard !bytes.isEmpty, let shared = socket.withLock({ $0 }) else { return }
            do throws(RedisConnectionError) {
                let count = try shared.socket.write(bytes, mayBlock: mayBlock)
                if count == bytes.count { continue }
                state.withLock { $0.outgoing.insert(contentsOf: bytes[count...], at: 0) }
                return Self.startThread { self.writeOutgoing(mayBlock: true) }
            } catch {
                return end(error)
            }
        }
    }
}
