import Synchronization

/// The progress of the tour, printed on interruption.
package final class Tally: Sendable {
    private let done = Atomic(0)
    private let all: Atomic<Int>

    /// - Parameter all: The number of recipes to run.
    package init(of all: Int) {
        self.all = Atomic(all)
    }

    func choose(_ count: Int) {
        all.store(count, ordering: .relaxed)
    }

    func add() {
        done.add(1, ordering: .relaxed)
    }

    /// The last line of an interrupted tour.
    package var interruption: String {
        "interrupted, \(done.load(ordering: .relaxed)) of \(all.load(ordering: .relaxed)) recipes done"
    }
}
