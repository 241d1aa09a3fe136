import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Has a queue wait for itself, and shows that the wait never ends.
    public static func syncOnOwnQueue(_ input: RecipeInput) throws -> RecipeResult {
        // region: sync-on-own-queue
        let index = SizeIndex(files: input.files)
        if index.summary != nil { throw UnexpectedEnd() }
        return RecipeResult(index.summaryAfterTheCure)
        // endregion
    }
}

// region: sync-on-own-queue-index
private final class SizeIndex {
    private let queue = DispatchQueue(label: "index")
    private let files: [InputFile]

    init(files: [InputFile]) {
        self.files = files
    }

    var bytes: Int? {
        queue.syncForAMoment { self.lockedBytes }
    }

    /// The mistake: it runs on the queue, and calls a function that waits for the queue.
    var summary: String? {
        queue.sync { bytes.map { "\(files.count) files, \($0) bytes" } }
    }

    /// The usual cure: each member that waits has a twin, to be called on the queue only.
    private var lockedBytes: Int { files.reduce(0) { $0 + $1.size } }

    var summaryAfterTheCure: String {
        queue.sync { "\(files.count) files, \(lockedBytes) bytes" }
    }
}

extension DispatchQueue {
    /// `sync` that gives up, and returns nil then: `sync` itself would stop the process here, or wait for ever.
    fileprivate func syncForAMoment<Value>(_ block: @escaping () -> Value) -> Value? {
        let box = Box<Value>()
        let item = DispatchWorkItem { box.value = block() }
        async(execute: item)
        if item.wait(timeout: .now() + .milliseconds(50)) == .success { return box.value }
        item.cancel()
        return nil
    }
}

private final class Box<Value> {
    var value: Value?
}

/// The queue did not wait for itself.
private struct UnexpectedEnd: Error {}
// endregion
