/// What starts next: the highest level first, and within a level the earliest arrival first.
///
/// An entry is never searched for. Whoever owns the order knows which entries are still current (one that was
/// cancelled, or moved to another level, is not), skips the others when they come to the head, and calls
/// `sweep` when `wasAbandoned` says that they are many. So every change is constant time, amortised.
struct ReadyOrder: Hashable, Sendable {
    typealias Entry = ArrivalLine.Entry

    private var lines = [ArrivalLine](repeating: ArrivalLine(), count: PriorityLevel.allCases.count)
    /// A bit for each level whose line is not empty.
    private var occupied: UInt8 = 0
    /// Entries that are not current.
    private(set) var abandoned = 0

    /// The entry at the head, current or not.
    var head: (entry: Entry, level: PriorityLevel)? {
        guard occupied != 0 else { return nil }
        let highest = 7 - occupied.leadingZeroBitCount
        return (lines[highest].first!, PriorityLevel(rawValue: UInt8(highest))!)
    }

    /// The first entries of a level, current or not, as far as they are in one piece.
    func first(_ count: Int, of level: PriorityLevel) -> ArraySlice<Entry> {
        lines[Int(level.rawValue)].first(count)
    }

    /// Every entry, current or not, in no particular order.
    var entries: [(entry: Entry, level: PriorityLevel)] {
        var entries: [(entry: Entry, level: PriorityLevel)] = []
        var unseen = occupied
        while unseen != 0 {
            let level = PriorityLevel(rawValue: UInt8(unseen.trailingZeroBitCount))!
            for entry in lines[Int(level.rawValue)].entries { entries.append((entry, level)) }
            unseen &= unseen - 1
        }
        return entries
    }

    mutating func insert(_ entry: Entry, at level: PriorityLevel) {
        lines[Int(level.rawValue)].insert(entry)
        occupied |= 1 << level.rawValue
    }

    /// Removes the head of a level. `isAbandoned` is whether it was no longer current.
    mutating func removeHead(of level: PriorityLevel, isAbandoned: Bool = false) {
        lines[Int(level.rawValue)].removeFirst()
        if lines[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
        if isAbandoned { abandoned -= 1 }
    }

    /// Says that an entry, wherever it stands, is no longer current. Returns whether it is time to sweep.
    mutating func abandonOne() -> Bool {
        abandoned += 1
        return abandoned > 64 && abandoned * 2 > lines.reduce(0) { $0 + $1.count }
    }

    /// Drops every entry that is not current. Linear in the entries.
    ///
    /// What left its place and came back to it has several entries that all look current; one is kept.
    mutating func sweep(isCurrent: (Entry, PriorityLevel) -> Bool) {
        for level in PriorityLevel.allCases {
            var kept: Set<Entry> = []
            lines[Int(level.rawValue)].removeAll { !isCurrent($0, level) || !kept.insert($0).inserted }
            if lines[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
        }
        abandoned = 0
    }
}
