import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("SlotMap, beside a dictionary", .inTurns)
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
            // A chunk of 16 is added only when all others are full.
            #expect(dictionary.keys.allSatisfy { $0 < (most + 15) / 16 * 16 })
        }
    }

    @Test("After a burst only the memory of the remaining elements is kept", arguments: ["first", "last", "spread"])
    func burst(left: String) {
        var map = SlotMap<Int>()
        for _ in 0..<3 {
            var slots = (0..<10_000).map { map.insert($0) }
            if left != "first" { slots.reverse() }
            let kept = left == "spread" ? slots.indices.filter { $0 % 1000 == 0 }.map { slots[$0] } : [slots[0]]
            for slot in slots where !kept.contains(slot) { map.remove(at: slot) }
            #expect(map.capacity <= 64 * (kept.count + 1))
            #expect(map.count == kept.count && map.all.count == kept.count)
            for slot in kept { map.remove(at: slot) }
            #expect(map.capacity <= 128)
        }
    }

    @Test("The slots of an empty map begin at 0 again", arguments: [17, 32, 1000])
    func restart(count: Int) {
        for isReversed in [false, true] {
            var map = SlotMap<Int>()
            let slots = (0..<count).map { map.insert($0) }
            for slot in isReversed ? slots.reversed() : slots { map.remove(at: slot) }
            #expect((0..<40).map { map.insert($0) } == Array(0..<40))
            #expect(map.all == Array(0..<40))
        }
    }

    @Test("Filling a chunk and removing from it many times uses no memory", arguments: 1...65)
    func fullChunk(count: Int) {
        var map = SlotMap<Int>()
        var slots = (0..<count).map { map.insert($0) }
        for value in 0..<1000 {
            map.remove(at: slots.remove(at: value % count))
            slots.append(map.insert(value))
        }
        #expect(map.roomy.count <= 65 / 16 + 1)
    }

    @Test("Crowds come and go in any order")
    func crowds() {
        var random = SeededGenerator(seed: 1)
        var map = SlotMap<Int>()
        var dictionary: [Int: Int] = [:]
        var slots: [Int] = []
        for value in 0..<40_000 {
            if slots.isEmpty || random.happens(percent: value / 4000 % 2 == 0 ? 70 : 30) {
                slots.append(map.insert(value))
                let replaced = dictionary.updateValue(value, forKey: slots.last!)
                #expect(replaced == nil)
            } else {
                slots.swapAt(random.number(below: slots.count), slots.count - 1)
                let slot = slots.removeLast()
                #expect(map.remove(at: slot) == dictionary.removeValue(forKey: slot))
            }
        }
        #expect(map.count == slots.count)
        for slot in slots { #expect(map.holds(slot) && map[slot] == dictionary[slot]) }
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
