import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Sends files once the network can be reached.
    public static func reachabilityCondition(_ input: RecipeInput) throws -> RecipeResult {
        // region: reachability-condition
        let (queue, network) = (AdvancedQueue(), Network())
        queue.maxConcurrentOperationCount = 4
        let (sent, bytes) = (SharedCount(), SharedCount())
        for file in input.sample {
            let upload = AdvancedBlockOperation { _ in
                sent.add(1)
                bytes.add(file.size)
            }
            upload.conditions = [ReachabilityCondition(network: network)]
            queue.add(upload)
        }
        network.comeBackSoon()
        queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(sent.total) sent, \(bytes.total) bytes")
        // endregion
    }
}

// region: reachability-condition-type
/// Waits for the network. The operation executes meanwhile, and counts in the width.
private struct ReachabilityCondition: AdvancedCondition {
    let network: Network

    func evaluate(for operation: AdvancedOperation, completion: @escaping (Error?) -> Void) {
        let answer = Answer(completion: completion)
        network.whenReachable { answer.completion(nil) }
    }

    private struct Answer: @unchecked Sendable {  // It is called once, by the network.
        let completion: (Error?) -> Void
    }
}
// endregion
