import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts lines of files, and never has more than 8 on their way.
    public static func boundedProducer(_ input: RecipeInput) throws -> RecipeResult {
        // region: bounded-producer
        let queue = DispatchQueue(label: "lines", attributes: .concurrent)
        let room = DispatchSemaphore(value: 8)
        let group = DispatchGroup()
        let (lines, underWay) = (SharedCount(), SharedCount())
        for file in input.sample {
            room.wait()  // the producer's thread is blocked until there is room
            underWay.add(1)
            queue.async(group: group) {
                lines.add(file.lineCount())
                underWay.add(-1)
                room.signal()
            }
        }
        group.wait()
        return RecipeResult("\(lines.total) lines, \(underWay.most <= 8 ? "at most 8 files" : "too many") under way")
        // endregion
    }
}
