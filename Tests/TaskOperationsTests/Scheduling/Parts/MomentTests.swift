import TestSupport
import Testing

@testable import TaskOperations

@Suite("A moment", .inTurns)
struct MomentTests {
    @Test("An instant is converted to a moment and back without a change, and moments are in order")
    func conversion() {
        let now = ContinuousClock.now
        let instants = [now.advanced(by: .seconds(-1e6)), now, now.advanced(by: .nanoseconds(1)), now + .seconds(1e9)]
        let moments = instants.map { Moment($0) }
        #expect(moments.map(\.instant) == instants)
        #expect(moments.sorted() == moments)
        for (moment, instant) in zip(moments, instants) { #expect(moment - moments[1] == instant - now) }
    }
}
