import Foundation

/// Runs two executables of this benchmark in turn, so that a change of the machine's speed affects both.
struct PairedRuns {
    let old: String
    let new: String
    /// The options of each run.
    let options: [String]

    /// - Throws: As soon as a run fails, or has no figure in common with the earlier runs.
    func run(_ count: Int) throws -> [Judgement.Pair] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let progress = Progress(of: count)
        defer { progress.clear() }
        var pairs: [Judgement.Pair] = []
        for index in 0..<count {
            progress.begin("pair of runs")
            // The order alternates, so that neither executable always runs first.
            let oldIsFirst = index.isMultiple(of: 2)
            let first = try measure(oldIsFirst ? old : new, in: folder, progress)
            let second = try measure(oldIsFirst ? new : old, in: folder, progress)
            pairs.append(oldIsFirst ? .init(old: first, new: second) : .init(old: second, new: first))
            _ = try Judgement.commonFigures(pairs)
        }
        return pairs
    }

    private func measure(_ path: String, in folder: URL, _ progress: Progress) throws -> [RecordedFigure] {
        let output = folder.appending(path: "figures")
        let messages = folder.appending(path: "messages")
        for file in [output, messages] { try Data().write(to: file) }
        progress.show(path)
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = options + ["--json", output.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: messages)
        do {
            try process.run()
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            throw ComparisonError(
                "cannot run \(path): \(exists ? "it is not an executable file" : "there is no such file")")
        }
        // A terminal interrupts only this process, because the child is in a process group of its own.
        signal(SIGINT, SIG_IGN)
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        interrupts.setEventHandler { process.terminate() }
        interrupts.activate()
        process.waitUntilExit()
        interrupts.cancel()
        let (reason, code) = (process.terminationReason == .exit ? "status" : "signal", process.terminationStatus)
        guard reason == "status", code == 0 else {
            let last = try String(contentsOf: messages, encoding: .utf8).split(separator: "\n").last ?? "no message"
            throw ComparisonError("\(path) failed with \(reason) \(code): \(last)")
        }
        do {
            return try JSONDecoder().decode([RecordedFigure].self, from: Data(contentsOf: output))
        } catch {
            throw ComparisonError("\(path) wrote no figures; it must be an executable of this benchmark")
        }
    }
}

/// The error of a comparison, in one line.
struct ComparisonError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
