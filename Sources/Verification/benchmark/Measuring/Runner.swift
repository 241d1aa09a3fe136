/// Measures cases, one after the other.
///
/// The subjects of a case take turns: each is warmed up once, and then measured once in each round. The order rotates
/// between rounds, so that no subject always follows the same other subject.
struct Runner: Sendable {
    private let rounds: Int?
    private let secondsPerSubject: Double
    private let scale: Double
    private let subjects: Set<SubjectName>?
    private let threads = ThreadCounter()

    init(_ arguments: Arguments) {
        rounds = arguments.rounds
        secondsPerSubject = arguments.secondsPerSubject ?? .infinity
        scale = arguments.scale
        subjects = arguments.subjects
    }

    /// - Parameter whenDone: Called with the figures of a comparison as soon as they are complete.
    func run(_ cases: [Case], whenDone: ([Figure]) throws -> Void) async throws -> [Figure] {
        let comparisons = cases.flatMap { item in item.sizes.map { (item, scaled($0)) } }
        let progress = Progress(of: comparisons.count)
        defer { progress.clear() }
        var figures: [Figure] = []
        var unavailable: Set<SubjectName> = []
        for (item, size) in comparisons {
            progress.begin(item.title + ", \(size.grouped) operations")
            let comparison = try await compare(item, size, &unavailable, progress)
            progress.clear()
            try whenDone(comparison)
            figures += comparison
        }
        return figures
    }

    /// A size times the scale, at least 16 so that a graph keeps its shape.
    private func scaled(_ size: Int) -> Int { max(16, Int((Double(size) * scale).rounded())) }

    /// - Parameter unavailable: The subjects that are left out. A subject is added, with a note, if its warm-up finds
    ///   that it is unavailable.
    private func compare(
        _ item: Case, _ size: Int, _ unavailable: inout Set<SubjectName>, _ progress: Progress
    ) async throws -> [Figure] {
        var trials: [Trial] = []
        for subject in item.subjects where size <= subject.largestSize && subjects?.contains(subject.name) != false {
            if unavailable.contains(subject.name) { continue }
            progress.show("\(subject.name.rawValue) warms up")
            do {
                _ = try await subject.measure(max(16, size / 10))
                trials.append(Trial(subject: subject, size: size, rounds: rounds(for: subject, size)))
            } catch let error as SubjectUnavailable {
                unavailable.insert(subject.name)
                progress.note("\(subject.name.rawValue) is left out: \(error.reason)")
            }
        }
        for round in 0..<(trials.map(\.rounds).max() ?? 0) {
            for turn in trials.indices {
                let index = (round + turn) % trials.count
                if round >= trials[index].rounds || trials[index].seconds >= secondsPerSubject { continue }
                progress.show("\(trials[index].subject.name.rawValue), round \(round + 1) of \(trials[index].rounds)")
                try await Task.sleep(for: .milliseconds(2))  // lets the work of the previous measurement end
                try await trials[index].measure(counting: threads)
            }
        }
        return trials.map { $0.figure(of: item) }
    }

    /// The number of rounds. Short rounds are disturbed more easily and cost little, so there are more of them.
    private func rounds(for subject: Subject, _ size: Int) -> Int {
        min(subject.mostRounds, rounds ?? (size <= 10_000 ? 15 : 5))
    }
}

/// A subject at one size, and its measurements so far.
private struct Trial {
    let subject: Subject
    let size: Int
    let rounds: Int
    private var measurements: [Measurement] = []
    private var threads: Int?
    /// The total time of its measurements.
    private(set) var seconds = 0.0

    init(subject: Subject, size: Int, rounds: Int) {
        self.subject = subject
        self.size = size
        self.rounds = rounds
    }

    mutating func measure(counting counter: ThreadCounter) async throws {
        counter.reset()
        let start = ContinuousClock.now
        measurements.append(try await subject.measure(size))
        seconds += (ContinuousClock.now - start) / .seconds(1)
        threads = [threads, counter.mostSeen].compactMap(\.self).max()
    }

    func figure(of item: Case) -> Figure {
        let bytes = measurements.compactMap(\.bytesPerOperation)
        return Figure(
            caseName: item.name, variant: item.variant, subject: subject.name, size: size,
            rounds: measurements.count,
            nsPerOperation: Spread(measurements.map(\.nsPerOperation)),
            bytesPerOperation: bytes.isEmpty ? nil : Spread(bytes).median, threads: threads)
    }
}
