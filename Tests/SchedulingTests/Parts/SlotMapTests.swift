import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("SlotMap, beside a dictionary")
struct SlotMapTests {
    @Test("Slots are stable, distinct, and used again")
    func randomUse() {
        for seed in 0..<20 {
            var random = SeededGenerator(seed: UInt64(seed))
            var map = SlotMap<Int>()
            var dictionary: [Int: Int] = [:]
            var most = 0
            for value in 0..<300 {
                if dictionary.isEmpty || random.happens(percent: 55) {
                    let slot = map.insert(value)
                    let replaced = dictionary.updateValue(value, forKey: slot)
                    #expect(replaced == nil)
                } else {
                    let slot = dictionary.keys.sorted().randomElement(using: &random)!
                    let removed = map.remove(at: slot)
                    #expect(removed == dictionary.removeValue(forKey: slot) && !map.holds(slot))
                }
                most = max(most, dictionary.count)
                #expect(map.count == dictionary.count)
                #expect(map.all.sorted() == dictionary.values.sorted())
                for (slot, value) in dictionary { #expect(map.holds(slot) && map[slot] == value) }
            }
            #expect(dictionary.keys.allSatisfy { $0 < most }, "no slot beyond the most that were held at once")
        }
    }

    @Test("A value can be changed where it is")
    func changing() {
        var map = SlotMap<[Int]>()
        let slot = map.insert([1])
        map[slot].append(2)
        #expect(map[slot] == [1, 2])
    }

    @Test("There is nothing at a slot that was never given out")
    func unknownSlots() {
        var map = SlotMap<Int>()
        _ = map.insert(1)
        #expect(!map.holds(-1) && !map.holds(1))
    }
}
