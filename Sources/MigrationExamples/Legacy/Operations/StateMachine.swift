import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Follows an asynchronous operation through its states.
    public static func stateMachine(_ input: RecipeInput) throws -> RecipeResult {
        // region: state-machine
        let queue = OperationQueue()
        let journal = Journal()
        let list = BlockOperation { journal.write("\(input.sample.count) files") }
        let count = CountOperation(input.sample)
        count.addDependency(list)
        journal.write(count.isReady ? "ready" : "waiting")
        count.onFile = { [unowned count] in
            if $0 == 1 { journal.write(count.isExecuting ? "executing" : "not executing") }
        }
        queue.addOperations([list, count], waitUntilFinished: true)
        journal.write("\(count.lines) lines")
        journal.write(count.isFinished ? "finished" : "not finished")
        return journal.result
        // endregion
    }
}

// region: state-machine-operation
/// The usual base class of operations: the state by hand, observable, behind a lock.
class AsynchronousOperation: Operation, @unchecked Sendable {
    private enum State: String {
        case isReady, isExecuting, isFinished
    }

    private let stateLock = NSLock()
    private var storedState = State.isReady

    private var state: State {
        get { stateLock.withLock { storedState } }
        set {
            let old = state
            willChangeValue(forKey: old.rawValue)
            willChangeValue(forKey: newValue.rawValue)
            stateLock.withLock { storedState = newValue }
            didChangeValue(forKey: newValue.rawValue)
            didChangeValue(forKey: old.rawValue)
        }
    }

    override var isAsynchronous: Bool { true }
    override var isReady: Bool { super.isReady && state == .isReady }
    override var isExecuting: Bool { state == .isExecuting }
    override var isFinished: Bool { state == .isFinished }

    override func start() {
        if isCancelled { return finish() }
        state = .isExecuting
        main()
    }

    /// Subclasses call this exactly once, on every path to their end.
    func finish() {
        state = .isFinished
    }
}

// `onFile` is written before it starts, `lines` before it finishes and read after it.
private final class CountOperation: AsynchronousOperation, @unchecked Sendable {
    private let files: [InputFile]
    var onFile: ((Int) -> Void)?
    private(set) var lines = 0

    init(_ files: [InputFile]) {
        self.files = files
    }

    override func main() {
        DispatchQueue.global().async {
            for (index, file) in self.files.enumerated() {
                self.lines += file.lineCount()
                self.onFile?(index + 1)
            }
            self.finish()
        }
    }
}
// endregion
