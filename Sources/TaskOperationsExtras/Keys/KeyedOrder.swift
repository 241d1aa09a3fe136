/// Entries with keys, in the order of their arrival. An entry passes when it and all earlier entries of its key have
/// ended.
///
/// An entry can end before earlier ones, for example if its operation is cancelled before the start. Later entries must
/// still wait for the earlier ones. Each call takes constant amortised time.
package struct KeyedOrder<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
    private struct Place: Sendable {
        let entry: Entry
        let key: Key
        var hasEnded = false
        /// Whether all earlier entries of the key have passed.
        var isFirst: Bool
        /// The number of the next entry of the key.
        var next: Int?
    }

    private var places: [Int: Place] = [:]
    /// The number of the latest entry of each key.
    private var last: [Key: Int] = [:]

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    /// Adds an entry with a new number. Returns its predecessor.
    package mutating func append(_ entry: Entry, _ number: Int, of key: Key) -> Entry? {
        let former = last.updateValue(number, forKey: key)
        places[number] = Place(entry: entry, key: key, isFirst: former == nil)
        guard let former else { return nil }
        places[former]!.next = number
        return places[former]!.entry
    }

    /// Whether no later entry of the same key was added. False for an entry that has passed.
    package func isLast(_ number: Int) -> Bool { places[number].map { $0.next == nil } ?? false }

    /// Records that an entry has ended. Has no effect if the entry has passed.
    ///
    /// - Returns: The entries of the key that have now passed, in their order.
    package mutating func ended(_ number: Int) -> [Entry] {
        places[number]?.hasEnded = true
        var passed: [Entry] = []
        var first: Int? = number
        while let number = first, let place = places[number], place.isFirst, place.hasEnded {
            places[number] = nil
            passed.append(place.entry)
            first = place.next
            if let first { places[first]!.isFirst = true } else { last[place.key] = nil }
        }
        return passed
    }
}
