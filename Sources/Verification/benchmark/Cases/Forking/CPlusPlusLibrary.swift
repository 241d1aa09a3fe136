import Foundation
import TaskOperations

/// A library for C++ that forks. `forking.cpp` is compiled with it before its first measurement.
struct CPlusPlusLibrary: Sendable {
    let name: SubjectName
    private let options: [String]

    static let taskflow = CPlusPlusLibrary(name: .taskflow, options: ["-DUSE_TASKFLOW", "-pthread"])
    static let tbb = CPlusPlusLibrary(name: .tbb, options: ["-DUSE_TBB", "-ltbb"])

    /// Solves a problem in a process of its own, whose threads have solved it once before the measured time begins.
    ///
    /// - Parameter problem: The name of a case.
    /// - Throws: `SubjectUnavailable` if the compiler or the library is missing.
    func run(_ problem: String, _ n: Int) async throws -> (elapsed: Duration, result: Int) {
        let (status, output) = try await mainThread.run {  // waits for processes
            Result { try Self.run([try compiled(), problem, "\(n)"]) }
        }.get()
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard status == 0, numbers.count == 2 else {
            throw WrongResult(description: "\(name.rawValue) ended \(problem) with status \(status): \(output)")
        }
        return (.nanoseconds(numbers[0]), numbers[1])
    }

    /// Returns the path of the compiled program.
    private func compiled() throws -> String {
        let program = Self.folder.appending(path: name.rawValue).path
        if FileManager.default.fileExists(atPath: program) { return program }
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "forking.cpp").path
        let (status, output) = try Self.run(["c++", "-O3", "-std=c++20", source, "-o", program] + options)
        if status == 0 { return program }
        let lines = output.split(separator: "\n")
        let line = lines.first { $0.contains("error: ") || $0.contains("cannot find") } ?? lines.first ?? ""
        throw SubjectUnavailable(reason: "the C++ compiler failed with status \(status): \(line)")
    }

    private static func run(_ command: [String]) throws -> (status: CInt, output: String) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// The folder of the compiled programs, which is removed when the process exits.
    private static let folder: URL = {
        atexit { try? FileManager.default.removeItem(at: folder) }
        return FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
    }()
}
