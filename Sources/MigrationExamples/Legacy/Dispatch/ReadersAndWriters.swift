import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills an array from many threads while others read it.
    public static func readersAndWriters(_ input: RecipeInput) throws -> RecipeResult {
        // region: readers-and-writers
        let library = Library()
        let torn = Journal()
        let files = Array(input.files.prefix(200))
        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            library.add(files[index])
            let (sizes, total) = library.contents
            if sizes.reduce(0, +) != total { torn.write("after \(sizes.count)") }
        }
        let (sizes, total) = library.contents
        return RecipeResult("\(sizes.count) files, \(total) bytes, \(torn.lines.count) torn reads, \(barriers())")
        // endregion
    }

    // region: readers-and-writers-barriers
    /// Both barriers run after all earlier blocks and before all later ones. They differ for their caller only.
    private static func barriers() -> String {
        let (queue, order) = (DispatchQueue(label: "order", attributes: .concurrent), Journal())
        for _ in 1...3 { queue.async { order.write("read") } }
        queue.sync(flags: .barrier) { order.write("sync barrier") }  // waits
        order.write("next line")

        queue.suspend()
        for _ in 4...6 { queue.async { order.write("read") } }
        queue.async(flags: .barrier) { order.write("async barrier") }  // does not wait
        order.write("next line")
        queue.resume()
        queue.sync(flags: .barrier) {}
        return order.result.text
    }
    // endregion
}

// region: readers-and-writers-library
/// Many threads may read at once; a writer is alone.
private final class Library {
    private let queue = DispatchQueue(label: "library", attributes: .concurrent)
    private var sizes: [Int] = []
    private var total = 0

    func add(_ file: InputFile) {
        queue.async(flags: .barrier) {
            self.sizes.append(file.size)
            self.total += file.size
        }
    }

    var contents: (sizes: [Int], total: Int) { queue.sync { (sizes, total) } }
}
// endregion
