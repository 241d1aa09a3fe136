import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: statistics", .inTurns)
struct StatisticsTests {
    @Test("The spread of several values is their middle and their ends")
    func spread() {
        let odd = Spread([5, 1, 3])
        #expect((odd.median, odd.minimum, odd.maximum) == (3, 1, 5))
        let even = Spread([4, 1, 3, 2])
        #expect((even.median, even.minimum, even.maximum) == (2.5, 1, 4))
        #expect(Spread([7]).median == 7)
    }

    @Test("A quantile is one of the values")
    func quantiles() {
        let values = (1...100).map(Double.init).shuffled()
        #expect(quantile(0.5, of: values) == 50)
        #expect(quantile(0.99, of: values) == 99)
        #expect(quantile(1, of: values) == 100)
        #expect(quantile(0.99, of: [8]) == 8)
    }

    @Test("Numbers have commas between thousands, and no more digits than were measured")
    func numbers() {
        #expect(1_234_567.grouped == "1,234,567")
        #expect(100.grouped == "100")
        #expect(1234.5.measured == "1,235")
        #expect(99.96.measured == "100.0")
        #expect(3.14159.measured == "3.14")
        #expect(0.00123.ratio == "0.0012")
        #expect(1.005.rounded(to: 1) == "1.0")
    }

    @Test("A logarithmic axis spans whole decades")
    func axis() {
        let axis = LogarithmicAxis([1000, 2_000_000], pixels: 0...400)
        #expect(axis.decades == [1e3, 1e4, 1e5, 1e6, 1e7])
        #expect(axis.position(of: 1e5) == 200)
    }
}
