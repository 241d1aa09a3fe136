import Foundation
import TaskOperations

@testable import TaskOperationsDiagnosis

/// Reads the words of a recording without the library's reader, and checks each record by itself and with the other
/// records of its queue and of its operation.
struct RecordAudit {
    private typealias Format = ChangeRing.Format

    private struct Change: Hashable {
        let kind: ChangeRecord.Kind
        let number: UInt64
        let arrival: UInt64
        let identity: UInt64
        let detail: UInt64
        let value: UInt64
    }

    /// What is wrong, up to ten messages.
    private(set) var faults: [String] = []
    /// The number of accepted records.
    private(set) var recordCount = 0
    private var changes: [UInt64: [Change]] = [:]

    /// - Parameters:
    ///   - path: The path of a file. If a process is writing the file, chunks that change meanwhile are left out.
    ///   - queues: The numbers of the recorded queues.
    init(_ path: String, queues: Set<UInt64>) throws {
        let words = try Data(contentsOf: URL(filePath: path)).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        let again = try Data(contentsOf: URL(filePath: path)).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        demand(words[Format.magicPlace] == Format.magic, "the file is no recording")
        let (first, last) = (words[Format.ticksPlace], Ticks.now)
        for place in stride(from: Format.headerWords, to: words.count, by: Format.chunkWords) {
            let (generation, count) = (words[place], words[place + 1])
            if generation == 0 || generation != again[place] || count & Format.namesBit != 0 { continue }
            demand(count <= Format.chunkWords && count % 4 == 0, "a chunk has \(count) words")
            for record in stride(from: place + 4, to: place + Int(min(count, 256)), by: 4) {
                check(Array(words[record..<record + 4]), queues, first...last)
            }
        }
        for changes in changes.values { checkQueue(changes) }
    }

    private mutating func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds, faults.count < 10 { faults.append(message()) }
    }

    private mutating func check(_ words: [UInt64], _ queues: Set<UInt64>, _ times: ClosedRange<UInt64>) {
        recordCount += 1
        let queue = words[3] & 0xFF_FFFF_FFFF_FFFF
        guard let kind = ChangeRecord.Kind(rawValue: UInt8(words[3] >> 56) & 0x7F), queues.contains(queue) else {
            return demand(false, "\(words) has an unknown kind or queue")
        }
        let change = Change(
            kind: kind, number: words[0] & 0xFFFF_FFFF, arrival: words[0] >> 32,
            identity: words[2] & 0xFF_FFFF_FFFF_FFFF, detail: words[2] >> 56, value: words[1])
        switch kind {
        case .added, .ready, .started, .lent, .returned, .cancelled, .level, .attempt, .finished, .waited:
            demand(times.contains(change.value) || change.value == 0, "\(change) was at another time")
            demand(
                change.identity != 0 && change.identity % 8 == 0 && change.arrival != 0, "\(change) has no operation")
        default: break
        }
        // Descriptions have the number of the change that they describe.
        let describes = words[3] & ChangeRecord.presentBit != 0 || [.name, .dependency, .limit].contains(kind)
        if !describes { changes[queue, default: []].append(change) }
    }

    private mutating func checkQueue(_ changes: [Change]) {
        let numbers = changes.map(\.number)
        demand(Set(numbers).count == numbers.count, "two changes of a queue have one number")
        for story in Dictionary(grouping: changes, by: \.arrival).values where story[0].arrival != 0 {
            demand(Set(story.map(\.identity)).count == 1, "\(story) has two identities")
            let sorted = story.sorted { $0.number < $1.number }
            for (before, after) in zip(sorted, sorted.dropFirst()) {
                let isInOrder =
                    switch (before.kind, after.kind) {
                    case (.finished, _), (_, .added), (.started, .started), (.started, .ready): false
                    default: true
                    }
                demand(isInOrder, "\(after) comes after \(before)")
                // The time of an addition was read before the queue was locked.
                let isTimed = ![.waits, .width].contains(before.kind) && ![.waits, .width].contains(after.kind)
                demand(!isTimed || before.value <= after.value, "\(after) was before \(before)")
            }
        }
    }
}
