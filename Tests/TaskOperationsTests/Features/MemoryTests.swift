import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The lifetimes of operations, bodies and queues", .inTurns, .endsInTime)
struct MemoryTests {
    /// The remaining 80 of 120 bytes are the header of the object, the lock, the rank, the phase, the slot, the name, the outcome and the body. See `Outcome`.
    @Test("The record of an operation has 40 bytes, so that another thread can free the operation without a lock")
    func recordSize() {
        #expect(MemoryLayout<OperationRecord>.size <= 40)
    }

    /// The remaining 48 of 120 bytes are the header of the object and four other references.
    @Test("The lists of an operation's links have 72 bytes, so that another thread can free the links without a lock")
    func linksSize() {
        #expect(MemoryLayout<DependencyList>.stride + MemoryLayout<OperationList<Void>>.stride <= 40)
        #expect(MemoryLayout<WaitingList<OperationWaiter>>.size + MemoryLayout<LevelContributions>.size <= 32)
        #expect(Mirror(reflecting: OperationLinks()).children.count == 4 + 4)
    }

    @Test("An operation without references is freed after its end, with its value")
    func operationsAreFreed() async throws {
        let freed = (0..<3).map { _ in Gate() }
        let queue = TaskOperationQueue()
        queue.addOperation { Witness(freed[0]) }
        queue.addBarrier { Witness(freed[1]) }
        try TaskOperation { Witness(freed[2]) }.start()
        for gate in freed { await gate.pass() }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operations == [])
    }

    @Test("A busy queue does not keep ended operations")
    func queueKeepsNothing() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (freed, gate) = (Gate(), Gate())
        queue.addOperation { Witness(freed) }
        queue.addOperation { await gate.pass() }
        await freed.pass()
        #expect(queue.operationCount == 1)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A body may capture its own queue and its own operation: the end undoes the circle")
    func circlesAreUndone() async throws {
        let freed = Gate()
        do {
            let queue = TaskOperationQueue(.init(executor: SingleThreadExecutor(Witness(freed))))
            let known = Recorder<AnyTaskOperation>()
            let operation = TaskOperation { known.events.count + queue.operationCount }
            known.record(operation)
            operation.addCompletionHandler { _ = operation.isFinished }
            try queue.addOperation(operation)
            #expect(try await operation.value == 2)
        }
        await freed.pass()
    }

    @Test("Cancelling a chain undoes it: operations that depend on each other's bodies are freed")
    func cancelledChain() async throws {
        let freed = Gate()
        do {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            var last = queue.addOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) { 0 } }
            for _ in 0..<1000 { last = queue.addOperation(after: last) { @concurrent in $0 + 1 } }
            queue.cancelAllOperations()
            #expect(queue.operationCount == 0)
        }
        await freed.pass()
    }

    @Test("An error of this library does not keep the operations that it names")
    func errorsKeepNothing() async throws {
        let freed = Gate()
        let error = {
            let dependency = TaskOperation(name: "dependency") { [witness = Witness(freed)] in
                withExtendedLifetime(witness) {}
            }
            let operation = TaskOperation(name: "operation", dependencies: [dependency]) {}
            return refusal { try dependency.addDependency(operation) }
        }()
        #expect(freed.isOpen)
        #expect(error?.dependencyCycle == ["dependency", "operation", "dependency"])
    }

    @Test("A dependency that was removed is let go")
    func removedDependency() throws {
        let freed = Gate()
        let operation = TaskOperation {}
        try {
            let dependency = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
            try operation.addDependency(dependency)
            #expect(!freed.isOpen)
            try operation.removeDependency(dependency)
        }()
        #expect(freed.isOpen)
        #expect(operation.isReady)
    }

    @Test("An operation keeps a dependency that has no other reference and will never start", .schedules(20))
    func dependentKeepsItsDependency() async throws {
        let freed = Gate()
        let queue = TaskOperationQueue()
        let dependent = {
            let dependency = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
            return queue.addOperation(dependencies: [dependency]) { 1 }
        }()
        await untilOthersWait()
        #expect(!freed.isOpen)
        try dependent.dependencies[0].start()
        #expect(try await dependent.value == 1)
        await freed.pass()
    }

    @Test("The body of an operation that was refused after the shutdown is released")
    func refusedOperation() {
        let freed = Gate()
        let queue = TaskOperationQueue()
        queue.shutDown()
        let operation = { [witness = Witness(freed)] in
            queue.addOperation { withExtendedLifetime(witness) {} }
        }()
        #expect(freed.isOpen)
        #expect(operation.isFinished)
    }

    @Test("An operation that is never added is freed with its last reference")
    func neverAdded() {
        let freed = Gate()
        var operation: TaskOperation? = TaskOperation { [witness = Witness(freed)] in
            withExtendedLifetime(witness) {}
        }
        #expect(operation?.isReady == true)
        operation = nil
        #expect(freed.isOpen)
    }

    @Test("A graph of diamonds that was never added is freed without recursion and without repetition")
    func diamonds() {
        let freed = Gate()
        var layer: [AnyTaskOperation] = [
            TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
        ]
        for _ in 0..<50_000 { layer = (0..<2).map { _ in TaskOperation(dependencies: layer) {} } }
        layer = []
        #expect(freed.isOpen)
    }
}
