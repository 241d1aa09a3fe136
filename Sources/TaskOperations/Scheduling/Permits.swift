/// How many permits there are and how many are taken: the one count behind the width of a queue and behind
/// `AsyncSemaphore`.
struct Permits: Hashable, Sendable {
    /// More may be taken than there are, after the capacity was lowered: lowering it takes nothing back.
    var capacity: Int
    private(set) var taken = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// What can be taken now; never negative.
    var available: Int { max(0, capacity - taken) }

    mutating func take(_ count: Int = 1) {
        require(count <= available, "took \(count) permits of \(available)")
        taken += count
    }

    /// Takes one that was lent out, where there may be none any more because the capacity was lowered to 0.
    mutating func takeBack() {
        taken += 1
    }

    mutating func giveBack(_ count: Int = 1) {
        require(count <= taken, "gave back \(count) permits, but only \(taken) are taken")
        taken -= count
    }
}
