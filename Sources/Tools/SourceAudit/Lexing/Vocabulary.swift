/// Stores each text of a token once, so that comparing two texts is comparing two numbers.
///
/// An open hash table over one array of bytes. Adding a text takes time linear in its length.
final class Vocabulary {
    /// The empty text.
    static let none = Word(number: 0)

    private var bytes: [UInt8] = []
    /// The offset at which each text ends; the next text begins there.
    private var ends: [UInt32] = [0]
    /// The slots of the hash table: the number of a text, or 0 for a free slot.
    private var slots = [UInt32](repeating: 0, count: 1 << 12)

    /// The numbers of the names of system types in Swift, which a type of the code base can have too.
    private var systemTypes: Range<UInt32> = 0..<0

    init() {
        for term in Term.allCases {
            let word = self[term.rawValue]
            precondition(word.number == Term.number(of: term), "\(term) stands twice in the list")
        }
        let first = UInt32(ends.count)
        for name in SystemType.namesInSwift { _ = self[name] }
        systemTypes = first..<UInt32(ends.count)
    }

    /// Whether a word is the name of a system type in Swift.
    func isSystemType(_ word: Word) -> Bool { systemTypes.contains(word.number) }

    /// The number of words.
    var count: Int { ends.count }

    /// The word of a text.
    subscript(text: String) -> Word {
        let utf8 = Array(text.utf8)
        return word(utf8, 0, utf8.count)
    }

    /// The text of a word. Invalid UTF-8 is replaced.
    subscript(word: Word) -> String {
        let number = Int(word.number)
        guard number > 0 else { return "" }
        return String(decoding: bytes[Int(ends[number - 1])..<Int(ends[number])], as: UTF8.self)
    }

    /// The word of the bytes from `start` to `end`.
    func word(_ source: [UInt8], _ start: Int, _ end: Int) -> Word {
        if start == end { return Self.none }
        var hash: UInt32 = 2_166_136_261
        for index in start..<end { hash = (hash ^ UInt32(source[index])) &* 16_777_619 }
        let mask = slots.count - 1
        var slot = Int(hash ^ hash >> 15) & mask
        while slots[slot] != 0 {
            if isEqual(Int(slots[slot]), source, start, end) { return Word(number: slots[slot]) }
            slot = (slot + 1) & mask
        }
        let number = UInt32(ends.count)
        slots[slot] = number
        bytes.append(contentsOf: source[start..<end])
        ends.append(UInt32(bytes.count))
        if ends.count * 2 > slots.count { grow() }
        return Word(number: number)
    }

    private func isEqual(_ number: Int, _ source: [UInt8], _ start: Int, _ end: Int) -> Bool {
        let first = Int(ends[number - 1])
        guard Int(ends[number]) - first == end - start else { return false }
        for index in 0..<end - start where bytes[first + index] != source[start + index] { return false }
        return true
    }

    private func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for number in 1..<ends.count {
            var hash: UInt32 = 2_166_136_261
            for index in Int(ends[number - 1])..<Int(ends[number]) {
                hash = (hash ^ UInt32(bytes[index])) &* 16_777_619
            }
            var slot = Int(hash ^ hash >> 15) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(number)
        }
    }
}
