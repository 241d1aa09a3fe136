import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// The stack frames of freeing are small. Half of this length might not overflow the stack if freeing were recursive.
private let chainLength = isDeep ? 30_000 : 10_000

@Suite("Freeing very many operations", .computing, .serialized, .endsInTime)
struct FreeingTests {
    @Test("A very long chain that has run is freed from either end")
    func chainThatHasRun() async throws {
        let freed = Gate()
        let queue = TaskOperationQueue()
        var chain = [TaskOperation { Witness(freed) as (any Sendable) }]
        for _ in 1..<chainLength {
            chain.append(TaskOperation(dependencies: [chain.last!]) { 0 as (any Sendable) })
        }
        try queue.addOperations(chain)
        try await queue.waitUntilAllOperationsAreFinished()
        chain = [chain.last!]
        await freed.pass()
        #expect(chain[0].isFinished)
    }

    @Test("A very long chain that was made and cancelled, but never added, is freed from its end")
    func chainThatWasCancelled() {
        let freed = Gate()
        let last = Self.chain(freeing: freed)
        last.cancel()
        #expect(freed.isOpen)
        #expect(last.isFinished)
    }

    @Test("A very long chain whose edges were added one by one, and never run, is freed from its end")
    func chainOfAddedEdges() throws {
        let freed = Gate()
        try {
            var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
            for _ in 0..<chainLength {
                let next = TaskOperation {}
                try next.addDependency(last)
                last = next
            }
        }()
        #expect(freed.isOpen)
    }

    @Test("A very long chain of bodies that capture the operation before, and were never added, is freed from its end")
    func chainOfCaptures() {
        let freed = Gate()
        _ = {
            var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
            for _ in 0..<chainLength { last = TaskOperation { [last] in withExtendedLifetime(last) {} } }
        }()
        #expect(freed.isOpen)
    }

    @Test("A very long chain of handlers that capture the operation before is freed from its end")
    func chainOfHandlers() {
        for isCancelled in [false, true] {
            let freed = Gate()
            _ = {
                var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
                for _ in 0..<chainLength {
                    let next = TaskOperation {}
                    next.addCompletionHandler { [last] in withExtendedLifetime(last) {} }
                    last = next
                }
                if isCancelled { last.cancel() }
            }()
            #expect(freed.isOpen || isCancelled)
        }
    }

    @Test("A very long chain that waits for an operation which never starts is freed by cancelling its end")
    func chainThatWaitsForNothing() throws {
        let freed = Gate()
        let holder = TaskOperation {}
        try {
            let last = Self.chain(freeing: freed)
            try holder.addDependency(last)
        }()
        #expect(!freed.isOpen)
        holder.cancel()
        #expect(freed.isOpen)
    }

    @Test("A very long chain is freed when its end loses the dependency on it")
    func chainThatIsCutOff() throws {
        let freed = Gate()
        let holder = TaskOperation {}
        try {
            let last = Self.chain(freeing: freed)
            try holder.addDependency(last)
            try holder.removeDependency(last)
        }()
        #expect(freed.isOpen)
    }

    @Test("A very long chain on a suspended queue is finished when the queue is released, and then freed")
    func chainOfAReleasedQueue() async throws {
        let freed = Gate()
        let last = {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let first = queue.addOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
            var last = first
            for _ in 0..<chainLength { last = queue.addOperation(dependencies: [last]) {} }
            return last
        }()
        try await last.value
        await freed.pass()
    }

    /// Returns the end of a very long chain that was never added. The gate opens when the first operation of the chain
    /// is freed.
    private static func chain(freeing freed: Gate) -> TaskOperation<Void> {
        var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
        for _ in 0..<chainLength { last = TaskOperation(dependencies: [last]) {} }
        return last
    }
}
