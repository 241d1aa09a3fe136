public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Fills an array from many tasks while others read it.
    public static func readersAndWriters(_ input: RecipeInput) async throws -> RecipeResult {
        // region: readers-and-writers
        let library = Library()
        let torn = Journal()
        await concurrentPerform(over: input.files.prefix(200)) { file in
            await library.add(file)
            let (sizes, total) = await library.contents  // a copy, which is read beside others
            if sizes.reduce(0, +) != total { torn.write("after \(sizes.count)") }
        }
        let (sizes, total) = await library.contents
        let order = try await barriers()
        return RecipeResult("\(sizes.count) files, \(total) bytes, \(torn.lines.count) torn reads, \(order)")
        // endregion
    }

    // region: readers-and-writers-barriers
    /// Barriers run after all earlier operations and before all later ones, whether their caller awaits them or not.
    private static func barriers() async throws -> String {
        let order = Journal()
        try await withTaskOperationQueue { queue in
            for _ in 1...3 { queue.addOperation { order.write("read") } }
            try await queue.addBarrier { order.write("sync barrier") }.value  // waits
            order.write("next line")

            queue.isSuspended = true
            for _ in 4...6 { queue.addOperation { order.write("read") } }
            queue.addBarrier { order.write("async barrier") }  // does not wait
            order.write("next line")
            queue.isSuspended = false
        }
        try Task.checkCancellation()
        return order.result.text
    }
    // endregion
}

// region: readers-and-writers-library
private actor Library {
    private var sizes: [Int] = []
    private var total = 0

    func add(_ file: InputFile) {
        sizes.append(file.size)
        total += file.size
    }

    var contents: (sizes: [Int], total: Int) { (sizes, total) }
}
// endregion
