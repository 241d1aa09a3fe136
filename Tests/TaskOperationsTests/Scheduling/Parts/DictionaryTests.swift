import Testing

@testable import TaskOperations

@Suite("Dictionaries that shrink")
struct DictionaryTests {
    @Test("Memory is freed once after many removals, and the entries remain")
    func shrink() {
        var dictionary: [Int: Int] = [:]
        for number in 0..<10_000 { dictionary[number] = -number }
        var changes = 0
        for number in 100..<10_000 {
            dictionary[number] = nil
            let former = dictionary.capacity
            dictionary.shrink()
            if dictionary.capacity != former { changes += 1 }
        }
        #expect(dictionary.capacity < 1000 && changes < 8)
        #expect(dictionary == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, -$0) }))
    }
}
