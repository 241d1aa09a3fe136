import Foundation
import TaskOperationsBridge

public final class Loader {
    private let queue: OperationQueue = BridgedOperationQueue()
    lazy var slow: OperationQueue = {
        let queue = BridgedOperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }()

    public init() {
        queue.maxConcurrentOperationCount = 4
    }

    public func load(_ count: Int) -> [Int] {
        let lock = NSRecursiveLock()
        // Every access holds `lock`, or follows all operations.
        nonisolated(unsafe) var loaded: [Int] = []
        for number in 0..<count {
            (number % 2 == 0 ? queue : slow).addOperation {
                lock.lock()
                loaded.append(number)
                lock.unlock()
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        slow.waitUntilAllOperationsAreFinished()
        return loaded.sorted()
    }
}
