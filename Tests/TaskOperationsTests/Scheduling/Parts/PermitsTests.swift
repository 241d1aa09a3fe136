import TestSupport
import Testing

@testable import TaskOperations

@Suite("Permits", .inTurns)
struct PermitsTests {
    @Test("Taken permits are not available, returned permits are")
    func takingAndGivingBack() {
        var permits = Permits(capacity: 5)
        permits.take(3)
        #expect((permits.available, permits.taken) == (2, 3))
        permits.giveBack(2)
        #expect((permits.available, permits.taken) == (4, 1))
    }

    @Test("Lowering the capacity takes nothing back, and makes nothing available that is not there")
    func loweredCapacity() {
        var permits = Permits(capacity: 3)
        permits.take(3)
        permits.capacity = 1
        #expect((permits.available, permits.taken) == (0, 3))
        permits.giveBack(2)
        #expect(permits.available == 0)
        permits.giveBack(1)
        #expect(permits.available == 1)
    }

    @Test("The largest capacity does not overflow")
    func largestCapacity() {
        var permits = Permits(capacity: .max)
        permits.take(7)
        #expect(permits.available == .max - 7)
    }

    @Test("More than there is cannot be taken", .prompt)
    func takingTooMuch() async {
        await #expect(processExitsWith: .failure) {
            var permits = Permits(capacity: 2)
            permits.take(1)
            permits.take(2)
        }
    }

    @Test("More than there is can be taken alone")
    func alone() {
        var permits = Permits(capacity: 1)
        #expect(permits.admits(2) && !permits.fits(2))
        permits.take(2)
        #expect(permits.available == 0 && !permits.admits(1))
        permits.giveBack(2)
        permits.capacity = 0
        #expect(!permits.admits(1))
    }

    @Test("More than was taken cannot be given back", .prompt)
    func givingBackTooMuch() async {
        await #expect(processExitsWith: .failure) {
            var permits = Permits(capacity: 1)
            permits.giveBack(1)
        }
    }
}
