import Dispatch
import Foundation
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

/// Each test runs in a separate process. The monitor of exit tests waits for any child process, and spins while a child
/// that it did not start has exited and was not reaped.
@Suite("The exit of processes as a sequence", .inTurns, .prompt)
struct DispatchProcessTests {
    private static let line = Data("\n".utf8)

    /// Starts a process that exits with a status when it receives a line. The caller must reap it.
    private static func spawn(status: Int) throws -> (identifier: pid_t, input: FileHandle) {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        let arguments = ["sh", "-c", "read line; exit \(status)"].map { (argument: String) in strdup(argument) }
        defer { for argument in arguments { free(argument) } }
        var identifier: pid_t = 0
        #expect(posix_spawn(&identifier, "/bin/sh", &actions, nil, arguments + [nil], nil) == 0)
        close(ends[0])
        return (identifier, FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
    }

    /// Reaps a process. Returns its exit status.
    private static func reap(_ identifier: pid_t) -> Int32? {
        var status: Int32 = 0
        return waitpid(identifier, &status, 0) == identifier ? (status >> 8) & 0xff : nil
    }

    @Test("the exit of a child is delivered once, and its status is left for the parent")
    func exit() async {
        await #expect(processExitsWith: .success) {
            let (identifier, input) = try Self.spawn(status: 7)
            let exits = try DispatchSource.processExit(identifier: identifier)
            let seen = Recorder<pid_t>()
            let waiting = Task.immediate {
                for try await exited in exits { seen.record(exited) }
            }
            #expect(seen.events.isEmpty)
            try input.write(contentsOf: Self.line)
            try await waiting.value
            #expect(seen.events == [identifier])
            #expect(Self.reap(identifier) == 7)
        }
    }

    @Test("a process that has exited before, and was not reaped, is announced")
    func exitedBefore() async {
        await #expect(processExitsWith: .success) {
            let (identifier, input) = try Self.spawn(status: 0)
            let first = try DispatchSource.processExit(identifier: identifier)
            try input.write(contentsOf: Self.line)
            for try await _ in first {}
            var exits: [pid_t] = []
            for try await exited in try DispatchSource.processExit(identifier: identifier) { exits.append(exited) }
            #expect(exits == [identifier])
            #expect(Self.reap(identifier) == 0)
        }
    }

    @Test("cancelling the task ends the iteration, and leaves the process alone")
    func cancellation() async {
        await #expect(processExitsWith: .success) {
            let (identifier, input) = try Self.spawn(status: 3)
            let exits = try DispatchSource.processExit(identifier: identifier)
            let waiting = Task.immediate {
                for try await _ in exits { return "exited" }
                return "ended"
            }
            waiting.cancel()
            #expect(try await waiting.value == "ended")
            try input.write(contentsOf: Self.line)
            #expect(Self.reap(identifier) == 3)
        }
    }

    @Test("a process of Foundation is announced, and Foundation has its status")
    func foundationProcess() async {
        await #expect(processExitsWith: .success) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "read line; exit 5"]
            let input = Foundation.Pipe()
            process.standardInput = input
            try process.run()
            let exits = try DispatchSource.processExit(identifier: process.processIdentifier)
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            for try await exited in exits { #expect(exited == process.processIdentifier) }
            try await onThread { [process = Kept(process)] in process.value.waitUntilExit() }
            #expect(process.terminationStatus == 5)
        }
    }

    @Test("a process that does not exist is an error that says so")
    func noProcess() async {
        await #expect(processExitsWith: .success) {
            let (identifier, input) = try Self.spawn(status: 0)
            try input.write(contentsOf: Self.line)
            #expect(Self.reap(identifier) == 0)
            let error = #expect(throws: SystemCallError.self) { try DispatchSource.processExit(identifier: identifier) }
            #expect(error?.code == ESRCH)
        }
    }
}

private struct Kept<Value>: @unchecked Sendable {  // The test waits while the other task uses the value.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
