import TaskOperationsTesting
import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: measuring", .inTurns)
struct RunnerTests {
    @Test("The figures of a case are there before the next case is measured")
    func oneByOne() async throws {
        let events = Recorder<String>()
        let cases = ["first", "second"].map { name in
            Case(name, "", sizes: [20, 30], subjects: [Self.subject(.task) { events.record("\(name) measured") }])
        }
        let figures = try await Runner(Arguments(["--rounds", "1"])).run(cases) { comparison in
            events.record("\(comparison[0].title), \(comparison[0].size) done")
        }
        #expect(figures.map(\.size) == [20, 30, 20, 30])
        // One warm-up call, and one round.
        #expect(
            events.events
                == ["first", "second"].flatMap { name in
                    [20, 30].flatMap { size in
                        ["\(name) measured", "\(name) measured", "\(name), \(size) done"]
                    }
                })
    }

    @Test("A slow subject is measured once by default, and in every round on request")
    func slow() async throws {
        let slow = Self.subject(.task) { _ = ContinuousClock().measure { Self.compute(for: .milliseconds(60)) } }
        let quick = Self.subject(.operationQueue) {}
        let item = Case("slow", "", sizes: [20], subjects: [slow, quick])
        var arguments = try Arguments([])
        arguments.secondsPerSubject = 0.05
        let figures = try await Runner(arguments).run([item]) { _ in }
        // On a busy machine, few rounds of the quick subject may use up the time.
        #expect(figures[0].rounds == 1 && figures[1].rounds >= 1)
        let all = try await Runner(Arguments(["--all", "--rounds", "2"])).run([item]) { _ in }
        #expect(all.map(\.rounds) == [2, 2])
    }

    @Test("A subject that is unavailable is tried once, and the others are measured without it")
    func unavailable() async throws {
        let events = Recorder<String>()
        let missing = Subject(.tbb) { _ in
            events.record("tried")
            throw SubjectUnavailable(reason: "a test")
        }
        let cases = ["first", "second"].map { name in
            Case(name, "", sizes: [20], subjects: [missing, Self.subject(.task) {}])
        }
        let figures = try await Runner(Arguments(["--rounds", "1"])).run(cases) { _ in }
        #expect(figures.map(\.subject) == [.task, .task])
        #expect(events.events == ["tried"])
    }

    private static func compute(for duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {}
    }

    private static func subject(_ name: SubjectName, _ work: @escaping @Sendable () -> Void) -> Subject {
        Subject(name) { count in
            work()
            return Measurement(.seconds(1), operations: count)
        }
    }
}
