/// The number of permits, and of taken ones: the count of the width of a queue and of `AsyncSemaphore`. A weight is the
/// number of permits that an operation takes.
struct Permits: Hashable, Sendable {
    /// More may be taken than there are, after the capacity was lowered: lowering it takes nothing back.
    var capacity: Int
    private(set) var taken = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of permits that can be taken now; never negative.
    var available: Int { max(0, capacity - taken) }

    /// Whether a weight can be taken now.
    func fits(_ weight: Int) -> Bool { weight <= available }

    /// Whether something of a weight may start: also one that is heavier than all permits together, if it is alone.
    func admits(_ weight: Int) -> Bool { weight <= available || (taken == 0 && capacity > 0) }

    /// Whether a weight that was lent out can be taken back: also if nothing else is taken, as the capacity may have
    /// been lowered meanwhile.
    func fitsBack(_ weight: Int) -> Bool { weight <= available || taken == 0 }

    mutating func take(_ weight: Int) {
        require(admits(weight), "took \(weight) permits of \(available)")
        taken += weight
    }

    /// Takes permits that were lent out, of which there may be too few.
    mutating func takeBack(_ weight: Int) {
        require(fitsBack(weight), "took \(weight) permits back of \(available)")
        taken += weight
    }

    /// Takes permits whether they are there or not.
    mutating func takeRegardless(_ weight: Int) { taken += weight }

    mutating func giveBack(_ weight: Int) {
        require(weight <= taken, "gave back \(weight) permits, but only \(taken) are taken")
        taken -= weight
    }
}
