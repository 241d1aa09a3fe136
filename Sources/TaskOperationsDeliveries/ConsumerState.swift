/// Decides when a consumer pulls, and knows the deliveries that it holds. A pure value.
struct ConsumerState<Operation: AnyObject & Sendable>: Sendable {
    private(set) var held: [Int: Operation] = [:]
    /// The number of held deliveries whose bodies have not started.
    private(set) var waitingCount = 0
    /// The last operation of each key.
    private var lastOfKey: [String: Operation] = [:]
    private var lastNumber = 0
    /// True once the queue has refused an operation: nothing is pulled any more.
    var isShutDown = false

    /// Whether the consumer may hold another delivery.
    func mayPull(width: Int, prefetch: Int) -> Bool {
        waitingCount < max(1, prefetch) && held.count - prefetch < max(1, width)
    }

    /// The operation after which one with this key may start.
    func predecessor(ofKey key: String?) -> Operation? { key.flatMap { lastOfKey[$0] } }

    /// A delivery has been pulled. Returns its number.
    mutating func pulled(_ operation: Operation, key: String?) -> Int {
        lastNumber += 1
        held[lastNumber] = operation
        waitingCount += 1
        if let key { lastOfKey[key] = operation }
        return lastNumber
    }

    /// A held delivery no longer waits: its body has started, or never will.
    mutating func stoppedWaiting() { waitingCount -= 1 }

    /// A delivery has been settled. Returns its operation, for the caller to release after unlocking.
    mutating func settled(_ number: Int, key: String?) -> Operation? {
        let operation = held.removeValue(forKey: number)
        if let key, lastOfKey[key] === operation { lastOfKey[key] = nil }
        return operation
    }
}
