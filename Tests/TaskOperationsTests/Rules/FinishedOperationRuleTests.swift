import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 16: a finished operation holds its outcome and nothing else", .inTurns, .endsInTime)
struct FinishedOperationRuleTests {
    @Test("The body is released before the end is visible")
    func bodyIsReleased() async throws {
        let freed = Gate()
        let operation = { [witness = Witness(freed)] in
            TaskOperationQueue().addOperation { withExtendedLifetime(witness) { 1 } }
        }()
        #expect(try await operation.value == 1)
        #expect(freed.isOpen)
        #expect(operation.isFinished)
    }

    @Test("A body that never runs is released by the cancellation")
    func cancelledBodyIsReleased() {
        let freed = Gate()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = { [witness = Witness(freed)] in
            queue.addOperation { withExtendedLifetime(witness) {} }
        }()
        #expect(!freed.isOpen)
        operation.cancel()
        #expect(freed.isOpen)
    }

    @Test("Dependencies are released at the end, by running or by being cancelled", .schedules(20))
    func dependenciesAreReleased() async throws {
        for cancels in [false, true] {
            let freed = Gate()
            let queue = TaskOperationQueue()
            let dependent = {
                let dependency = queue.addOperation { Witness(freed) }
                return TaskOperation(dependencies: [dependency]) {}
            }()
            try await queue.waitUntilAllOperationsAreFinished()
            await untilOthersWait()
            #expect(!freed.isOpen)
            if cancels { dependent.cancel() } else { try dependent.start() }
            _ = await dependent.result
            await freed.pass()
            #expect(dependent.dependencies == [])
        }
    }

    @Test("The inputs of an operation are released at its end, and their values with them")
    func inputsAreReleased() async throws {
        let freed = Gate()
        let queue = TaskOperationQueue()
        let dependent = {
            let input = queue.addOperation { Witness(freed) }
            return queue.addOperation(after: input) { @concurrent _ in 1 }
        }()
        #expect(try await dependent.value == 1)
        await freed.pass()
    }

    @Test("Dependents are released at the end")
    func dependentsAreReleased() async throws {
        let freed = Gate()
        let queue = TaskOperationQueue()
        let first = TaskOperation {}
        { [witness = Witness(freed)] in
            let dependent = queue.addOperation(dependencies: [first]) { witness }
            dependent.addCompletionHandler { withExtendedLifetime(witness) {} }
        }()
        #expect(!freed.isOpen)
        try first.start()
        await freed.pass()
        #expect(first.isFinished)
    }

    @Test("Completion handlers are released after they were called")
    func handlersAreReleased() async throws {
        let freed = Gate()
        let operation = TaskOperation {}
        { [witness = Witness(freed)] in
            operation.addCompletionHandler { withExtendedLifetime(witness) {} }
        }()
        try operation.start()
        await freed.pass()
        #expect(operation.isFinished)
    }

    @Test("A very long chain that was never added is freed without recursion", .computing)
    func freeingAChain() {
        let freed = Gate()
        var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
        for _ in 0..<(isDeep ? 300_000 : 50_000) { last = TaskOperation(dependencies: [last]) {} }
        last = TaskOperation {}
        #expect(freed.isOpen)
        #expect(last.isReady)
    }

    @Test("A chain in which each needs the value of the one before is freed without recursion", .computing)
    func freeingAChainOfInputs() {
        let freed = Gate()
        var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) { 0 } }
        for _ in 0..<(isDeep ? 60_000 : 20_000) { last = TaskOperation(after: last) { @concurrent in $0 + 1 } }
        last = TaskOperation { 0 }
        #expect(freed.isOpen)
        #expect(last.isReady)
    }
}
