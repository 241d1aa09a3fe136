import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Runs blocks on one thread in order; waiting blocks can be held back, and removed.
    public static func blockListThread(_ input: RecipeInput) throws -> RecipeResult {
        // region: block-list-thread
        let thread = BlockThread()
        let journal = Journal()
        thread.pause()
        for file in input.files.prefix(3) { thread.perform { journal.write("drawn \(file.size)") } }
        journal.write("\(thread.removeAll()) thrown away")
        for file in input.files.prefix(2) { thread.perform { journal.write("drawn again \(file.size)") } }
        thread.resume()
        let isDone = DispatchSemaphore(value: 0)
        thread.perform { isDone.signal() }
        isDone.wait()
        thread.stop()
        return journal.result
        // endregion
    }
}

// region: block-list-thread-class
private final class BlockThread: @unchecked Sendable {
    private let condition = NSCondition()
    private var blocks: [() -> Void] = []
    private var isPaused = false
    private var isStopped = false

    init() {
        Thread { [self] in while let block = next() { block() } }.start()
    }

    func perform(_ block: @escaping () -> Void) { change { blocks.append(block) } }
    func pause() { change { isPaused = true } }
    func resume() { change { isPaused = false } }
    func stop() { change { isStopped = true } }

    /// Returns how many there were.
    func removeAll() -> Int {
        change {
            defer { blocks = [] }
            return blocks.count
        }
    }

    private func change<Value>(_ body: () -> Value) -> Value {
        condition.lock()
        defer { condition.unlock() }
        condition.signal()
        return body()
    }

    private func next() -> (() -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        while !isStopped, isPaused || blocks.isEmpty { condition.wait() }
        return isStopped ? nil : blocks.removeFirst()
    }
}
// endregion
