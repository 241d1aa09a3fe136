import TaskOperations
import Testing

@testable import TaskOperationsDeliveries

@Suite("When a lease is extended")
struct LeaseStateTests {
    private func state(_ renewal: DeliveryLease.Renewal) -> LeaseState {
        LeaseState(DeliveryLease(.seconds(9), renewal: renewal), at: .zero, progress: .none)
    }

    private func seconds(_ number: Int) -> Duration { .seconds(number) }

    @Test(
        "a delivery that waits is extended, whatever the policy",
        arguments: [
            DeliveryLease.Renewal.never, .whileProgressing, .upTo(.zero),
        ])
    func waiting(renewal: DeliveryLease.Renewal) {
        var state = state(renewal)
        #expect(state.step(at: .zero, progress: .none) == .sleep(until: seconds(3)))
        #expect(state.step(at: seconds(3), progress: .none) == .extend(before: seconds(9)))
        state.wasExtended(at: seconds(3))
        #expect(state.end == seconds(12))
    }

    @Test("a body is extended for the stated time, and then loses the lease")
    func upTo() {
        var state = state(.upTo(.seconds(5)))
        state.begin(at: seconds(1))
        #expect(state.step(at: seconds(3), progress: .none) == .extend(before: seconds(9)))
        state.wasExtended(at: seconds(3))
        #expect(state.step(at: seconds(6), progress: .none) == .sleep(until: seconds(9)))
        #expect(state.step(at: seconds(9), progress: .none) == .sleep(until: seconds(12)))
        #expect(state.step(at: seconds(12), progress: .none) == .lose)
    }

    @Test("an extension that failed is tried again at the next look")
    func failure() {
        var state = state(.upTo(.seconds(100)))
        state.begin(at: .zero)
        #expect(state.step(at: seconds(3), progress: .none) == .extend(before: seconds(9)))
        #expect(state.step(at: seconds(4), progress: .none) == .sleep(until: seconds(6)))
        #expect(state.step(at: seconds(6), progress: .none) == .extend(before: seconds(9)))
        #expect(state.step(at: seconds(9), progress: .none) == .lose)
    }
}
