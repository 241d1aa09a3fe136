import Foundation
import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: judgement of a change", .inTurns)
struct JudgementTests {
    /// Coverages are sums of the binomial distribution, such as 1 - 2 × (1 + 10) / 2^10.
    @Test(
        "The interval of a median has the ranks and the coverage of the binomial distribution",
        arguments: [
            (6, 1, 0.96875), (8, 1, 0.99219), (9, 2, 0.96094), (10, 2, 0.97852), (20, 6, 0.95861), (100, 40, 0.96480),
        ])
    func interval(count: Int, rank: Int, coverage: Double) {
        let interval = MedianInterval((1...count).map(Double.init).shuffled())
        #expect(interval.bounds == Double(rank)...Double(count + 1 - rank))
        #expect(abs(interval.coverage - coverage) < 5e-6)
        #expect(interval.median == Double(count + 1) / 2)
    }

    @Test("The largest allowed number of pairs has an interval")
    func manyPairs() {
        let interval = MedianInterval((1...1000).map(Double.init))
        #expect(interval.bounds == 469...532)
        #expect((0.95...0.96).contains(interval.coverage))
    }

    @Test("Two equal programs have no difference, in spite of noise")
    func equalPrograms() throws {
        #expect(try verdict(Self.noise, Self.noise.reversed()) == "no difference")
        #expect(try verdict(Self.noise, Self.noise) == "no difference")
    }

    @Test("A program that takes 10 % longer is slower, and the reverse is faster")
    func slowerProgram() throws {
        let slower = Self.noise.map { $0 * 1.1 }
        #expect(try verdict(Self.noise, slower) == "slower")
        #expect(try verdict(slower, Self.noise) == "faster")
    }

    @Test("An outlier in one run does not change the verdict")
    func outlier() throws {
        let slower = Self.noise.map { $0 * 1.1 }
        for index in Self.noise.indices {
            var (equal, changed) = (Self.noise, slower)
            equal[index] *= 20
            changed[index] /= 20
            #expect(try verdict(Self.noise, equal) == "no difference")
            #expect(try verdict(Self.noise, changed) == "slower")
        }
    }

    @Test("A difference of less than 1 % is none, even if every pair shows it")
    func smallDifference() throws {
        #expect(try verdict(Self.noise, Self.noise.map { $0 * 1.009 }) == "no difference")
        #expect(try verdict(Self.noise, Self.noise.map { $0 * 0.991 }) == "no difference")
        #expect(try verdict(Self.noise, Self.noise.map { $0 * 1.011 }) == "slower")
    }

    @Test("Memory is compared if a case measures it")
    func memory() throws {
        let pairs = Self.noise.map { time in
            Judgement.Pair(
                old: [RecordedFigure("memory", ns: time, bytes: 100)],
                new: [RecordedFigure("memory", ns: 2 * time, bytes: 50)])
        }
        #expect(try Judgement(pairs).rows.map(\.verdict) == ["smaller"])
    }

    @Test("Rows are the figures that all runs of both programs have, in order, without the lower bound")
    func matching() throws {
        let both = [
            RecordedFigure("first", n: 10), RecordedFigure("second", variant: "wide"), RecordedFigure("first", n: 20),
            RecordedFigure("first", subject: "Task"),
        ]
        let ideal = RecordedFigure("first", subject: "ideal")
        var pairs = Array(
            repeating: Judgement.Pair(
                old: [ideal, RecordedFigure("second", variant: "narrow")] + both.reversed(),
                new: both + [ideal, RecordedFigure("third")]), count: 5)
        pairs.append(.init(old: both, new: both.prefix(3) + [RecordedFigure("first", subject: "Task", ns: 0)]))
        let judgement = try Judgement(pairs)
        #expect(judgement.rows.map(\.figure.key) == both.prefix(3).map(\.key))
        #expect(judgement.rows.map(\.figure.title) == ["first", "second, wide", "first"])
        #expect(judgement.lines.last == "Left out because some run has no figure for them: 3 rows.")
    }

    @Test("Programs without a common figure cannot be compared")
    func noCommonFigure() {
        let ideal = RecordedFigure("first", subject: "ideal")
        let pair = Judgement.Pair(old: [RecordedFigure("first"), ideal], new: [RecordedFigure("second"), ideal])
        let error = #expect(throws: ComparisonError.self) { try Judgement.commonFigures([pair]) }
        #expect(error?.description == "the two executables have no case, size and subject in common")
    }

    @Test("The table has a line for each row with its ratio, interval and verdict")
    func table() throws {
        let lines = try judgement(Self.noise, Self.noise.map { $0 * 1.1 }).lines
        #expect(
            lines.prefix(3) == [
                "case   subject              n  new/old        interval  verdict",
                "chain  TaskOperationQueue  10    1.100  1.100 to 1.100  slower",
                "",
            ])
        #expect(lines[3].contains("10 pairs. The interval is from ratio 2 to ratio 9 in ascending order"))
        #expect(lines[3].contains("97.9 %"))
        #expect(lines.count == 4)
    }

    @Test("A comparison reads the figures that the benchmark writes")
    func recordedFigure() throws {
        let figure = Figure(
            caseName: "suspending", variant: "width 64", subject: .task, size: 10, rounds: 5,
            nsPerOperation: Spread([5]), bytesPerOperation: 7, threads: nil)
        let recorded = try JSONDecoder().decode(RecordedFigure.self, from: Data(JSON.text(figure).utf8))
        #expect(recorded.title == figure.title)
        #expect(recorded.subject == figure.subject.rawValue)
        #expect(recorded.n == figure.size)
        #expect(recorded.cost == figure.cost)
    }

    /// The times of ten runs, which vary by some percent.
    private static let noise = [100.0, 103, 98, 107, 101, 96, 99, 104, 102, 97]

    private func judgement(_ old: [Double], _ new: [Double]) throws -> Judgement {
        try Judgement(
            zip(old, new).map { old, new in
                Judgement.Pair(old: [RecordedFigure("chain", ns: old)], new: [RecordedFigure("chain", ns: new)])
            })
    }

    private func verdict(_ old: [Double], _ new: [Double]) throws -> String? {
        try judgement(old, new).rows.first?.verdict
    }
}

extension RecordedFigure {
    fileprivate init(
        _ name: String, variant: String? = nil, subject: String = "TaskOperationQueue", n: Int = 10, ns: Double = 100,
        bytes: Double? = nil
    ) {
        self.init(
            case: name, variant: variant, subject: subject, n: n, nsPerOperation: ns, bytesPerOperation: bytes)
    }
}
