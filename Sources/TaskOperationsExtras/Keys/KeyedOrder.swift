/// Entries with keys, in the order of their arrival. An entry passes when it and all earlier entries of its key have
/// ended.
///
/// An entry can end before earlier ones, for example if its operation is cancelled before the start. It then leaves the
/// line, and passes together with the entry before it. Takes constant amortised time for each entry, or O(log *n*) for
/// *n* entries that end before earlier ones.
package struct KeyedOrder<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
    private struct Place: Sendable {
        let entry: Entry
        let key: Key
        /// The numbers of the entries beside this one that have not ended.
        var former: Int?
        var next: Int?
        /// Whether another entry of the key was ever added directly behind this one.
        var wasFollowed = false
        /// The entries that pass together with this one.
        var ended: [(number: Int, entry: Entry)] = []
    }

    private var places: [Int: Place] = [:]
    /// The number of the latest entry of each key that has not ended.
    private var last: [Key: Int] = [:]

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    /// Adds an entry with a number above all earlier numbers.
    ///
    /// - Parameter hasEnded: Returns whether an entry has ended for which `ended` is still to be called.
    /// - Returns: The latest earlier entry of the key that has not ended.
    package mutating func append(
        _ entry: Entry, _ number: Int, of key: Key, hasEnded: (Entry) -> Bool = { _ in false }
    ) -> Entry? {
        while let former = last[key], let place = places[former], place.former != nil, hasEnded(place.entry) {
            _ = ended(former)
        }
        let former = last.updateValue(number, forKey: key)
        places[number] = Place(entry: entry, key: key, former: former)
        guard let former else { return nil }
        places[former]!.next = number
        places[former]!.wasFollowed = true
        return places[former]!.entry
    }

    /// Whether another entry of the key was ever added directly behind an entry. False for an entry that has ended.
    package func wasFollowed(_ number: Int) -> Bool { places[number]?.wasFollowed ?? false }

    /// Records that an entry has ended. Has no effect if that was recorded before.
    ///
    /// - Returns: The entries of the key that have now passed, in their order.
    package mutating func ended(_ number: Int) -> [Entry] {
        guard let place = places.removeValue(forKey: number) else { return [] }
        if let next = place.next { places[next]!.former = place.former } else { last[place.key] = place.former }
        guard let former = place.former else {
            return [place.entry] + place.ended.sorted { $0.number < $1.number }.map(\.entry)
        }
        places[former]!.next = place.next
        places[former]!.ended.add(place.ended)
        places[former]!.ended.append((number, place.entry))
        return []
    }
}

extension Array {
    /// Adds elements. The order of the elements may change, so that the longer list is not copied.
    fileprivate mutating func add(_ others: [Element]) {
        var (longer, shorter) = (self, others)
        self = []
        if longer.count < shorter.count { swap(&longer, &shorter) }
        longer.append(contentsOf: shorter)
        self = longer
    }
}
