internal import Foundation
internal import Synchronization

/// One connection. Commands are sent in the order of the calls, without waiting for replies. A dedicated thread
/// connects and reads.
final class RedisConnection: Sendable {
    private struct Call: Sendable {
        var missing: Int
        var replies: [RESPValue] = []
        let continuation: CheckedContinuation<[RESPValue], any Error>
    }

    private struct State: Sendable {
        var outgoing: [UInt8] = []
        /// Whether a thread sends the outgoing bytes; also true until the connection is established.
        var isSending = true
        var calls: [Call] = []
        /// The number of received replies.
        var replyCount = 0
        var error: RedisConnectionError?
    }

    private let state = Mutex(State())
    private let socket = Mutex<SharedSocket?>(nil)
    private let timeout: Int

    /// Begins to connect.
    ///
    /// - Parameter timeout: The number of seconds after which a missing reply closes the connection.
    init(to address: RedisAddress, password: String?, timeout: Int = 10) {
        self.timeout = timeout
        let hello = ["HELLO", "3"] + (password.map { ["AUTH", "default", $0] } ?? [])
        let thread = Thread { self.serve(address, hello) }
        thread.stackSize = 1 << 18
        thread.start()
    }

    var isBroken: Bool { state.withLock { $0.error != nil } }

    /// Sends commands, and waits for their replies.
    func send(_ commands: [[String]]) async throws -> [RESPValue] {
        var bytes: [UInt8] = []
        for command in commands { RESPValue.encode(command, into: &bytes) }
        return try await withCheckedThrowingContinuation { continuation in
            let error = state.withLock { state -> RedisConnectionError? in
                if let error = state.error { return error }
                state.outgoing += bytes
                state.calls.append(Call(missing: commands.count, continuation: continuation))
                return nil
            }
            if let error { return continuation.resume(throwing: error) }
            sendOutgoing()
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
            try shared.socket.write(bytes)
            try read(from: shared)
        } catch {
            end(error)
        }
    }

    private func read(from shared: SharedSocket) throws(RedisConnectionError) {
        var parser = RESPParser()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isGreeted = false
        // The number of received replies at the end of the last read, if calls waited then.
        var awaitedReply: Int?
        while true {
            guard let count = try shared.socket.read(into: &buffer) else {
                let next = state.withLock { $0.calls.isEmpty ? nil : $0.replyCount }
                if !isGreeted || next != nil && next == awaitedReply {
                    throw RedisConnectionError(description: "No reply within \(timeout) seconds.")
                }
                awaitedReply = next
                continue
            }
            parser.append(buffer.prefix(count))
            do {
                while let reply = try parser.next() {
                    if isGreeted { receive(reply) } else { try greet(reply) }
                    isGreeted = true
                }
            } catch let error as RedisConnectionError {
                throw error
            } catch {
                throw RedisConnectionError(description: "The server does not speak RESP3.")
            }
        }
    }

    private func greet(_ reply: RESPValue) throws {
        if case .error(let message) = reply { throw RedisConnectionError(description: message) }
        state.withLock { $0.isSending = false }
        sendOutgoing()
    }

    private func receive(_ reply: RESPValue) {
        let call = state.withLock { state -> Call? in
            state.replyCount += 1
            if state.calls.isEmpty { return nil }
            state.calls[0].missing -= 1
            state.calls[0].replies.append(reply)
            return state.calls[0].missing == 0 ? state.calls.removeFirst() : nil
        }
        call?.continuation.resume(returning: call!.replies)
    }

    /// Sends the outgoing bytes, unless another thread does so.
    private func sendOutgoing() {
        while true {
            let bytes = state.withLock { state -> [UInt8] in
                if state.isSending || state.outgoing.isEmpty { return [] }
                state.isSending = true
                defer { state.outgoing = [] }
                return state.outgoing
            }
            if bytes.isEmpty { return }
            do throws(RedisConnectionError) {
                try socket.withLock { $0 }?.socket.write(bytes)
            } catch {
                return end(error)
            }
            state.withLock { $0.isSending = false }
        }
    }

    private func end(_ error: RedisConnectionError) {
        let calls = state.withLock { state in
            if state.error == nil { state.error = error }
            defer { state.calls = [] }
            return state.calls
        }
        socket.withLock { $0 }?.socket.interrupt()
        for call in calls { call.continuation.resume(throwing: error) }
    }
}
