import Foundation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// An actor that runs on its own thread.
private actor Library {
    let thread: ThreadExecutor
    private(set) var calls = 0

    init(_ thread: ThreadExecutor) {
        self.thread = thread
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func call() async -> [ObjectIdentifier] {
        calls += 1
        let before = currentThreadIdentity()
        await Task.yield()
        return [before, currentThreadIdentity()]
    }

    nonisolated func callInPlace() -> Int {
        assumeIsolated { library in
            library.calls += 1
            return library.calls
        }
    }
}

@Suite("A thread of its own", .inTurns)
struct ThreadExecutorTests {
    @Test("functions, tasks, bodies and an actor all run on the one thread")
    func oneThread() async throws {
        let executor = ThreadExecutor(name: "the one")
        let identity = try await executor.run { currentThreadIdentity() }
        let library = Library(executor)
        let queue = TaskOperationQueue(.init(executor: executor))
        for _ in 0..<20 {
            #expect(await library.call() == [identity, identity])
            #expect(try await queue.run { currentThreadIdentity() } == identity)
            #expect(await Task(executorPreference: executor) { currentThreadIdentity() }.value == identity)
            #expect(try await executor.run { try threadName() } == "the one")
        }
        await executor.shutDown()
    }

    #if canImport(Glibc)
        @Test(
            "a scheduling policy that the first function selects, as for work in real time, holds for everything on it")
        func schedulingPolicy() async throws {
            let batch: Int32 = 3  // A policy for which no privilege is needed.
            let executor = ThreadExecutor(name: "batch")
            try await executor.run {
                var parameters = sched_param()
                #expect(pthread_setschedparam(pthread_self(), batch, &parameters) == 0)
            }
            let queue = TaskOperationQueue(.init(executor: executor))
            let policy = try await queue.run {
                var (policy, parameters): (Int32, sched_param) = (0, sched_param())
                pthread_getschedparam(pthread_self(), &policy, &parameters)
                return policy
            }
            #expect(policy == batch)
        }

        @Test("a priority that the first function gives to the thread holds for everything on it")
        func priority() async throws {
            let (executor, other) = (ThreadExecutor(name: "polite"), ThreadExecutor(name: "other"))
            // A thread inherits the priority of the thread that creates it.
            let (usual, usualElsewhere) = try await (executor.run { nice(0) }, other.run { nice(0) })
            // On Linux, `nice` changes the calling thread alone.
            try await executor.run { _ = nice(1) }
            let queue = TaskOperationQueue(.init(executor: executor))
            #expect(try await queue.run { nice(0) } == usual + 1)
            #expect(try await executor.run { nice(0) } == usual + 1)
            #expect(try await other.run { nice(0) } == usualElsewhere)
        }
    #endif

    @Test("one thing runs at a time, in the order in which it came")
    func serial() async throws {
        let executor = ThreadExecutor()
        let meter = ConcurrencyMeter()
        let order = Recorder<Int>()
        let tasks = (0..<100).map { number in
            Task.immediate {
                try await executor.run {
                    meter.enter()
                    order.record(number)
                    meter.leave()
                }
            }
        }
        for task in tasks { try await task.value }
        #expect(meter.most == 1)
        #expect(order.events == Array(0..<100))
    }

    @Test("a function on the thread is isolated to the actor that lives there")
    func assumeIsolated() async throws {
        let executor = ThreadExecutor()
        let library = Library(executor)
        #expect(try await executor.run { library.callInPlace() } == 1)
        #expect(await library.calls == 1)
    }

    @Test("the executor knows whether it is its own thread that asks")
    func knowsItsThread() async throws {
        let executor = ThreadExecutor()
        #expect(executor.isIsolatingCurrentContext() == false)
        #expect(try await executor.run { executor.isIsolatingCurrentContext() } == true)
    }

    @Test("assuming isolation on another thread stops the process with a message", .prompt)
    func assumeIsolatedElsewhere() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThreadExecutor(name: "database").checkIsolated()
        }
        #expect(result.errorText.contains("\"database\""))
    }
}

// MARK: - The end

extension ThreadExecutorTests {
    @Test("shutdown finishes submitted work, ends the thread, and refuses later work")
    func shutDown() async throws {
        let executor = ThreadExecutor(name: "short")
        let hasBlocked = Gate()
        let semaphore = DispatchSemaphore(value: 0)
        let order = Recorder<Int>()
        let blocker = Task {
            try await executor.run {
                Task { await hasBlocked.pass() }
                block(on: semaphore)
            }
        }
        await hasBlocked.waitForArrivals(1)
        let tasks = (0..<10).map { number in Task.immediate { try await executor.run { order.record(number) } } }
        let shutdown = Task.immediate { await executor.shutDown() }
        await #expect(throws: ThreadExecutorError.self) { try await executor.run { order.record(-1) } }
        semaphore.signal()
        await shutdown.value
        #expect(order.events == Array(0..<10))
        for task in tasks { try await task.value }
        try await blocker.value
        await executor.shutDown()
    }

    @Test("an executor that was never used can be shut down")
    func shutdownUnused() async {
        await ThreadExecutor().shutDown()
    }

    @Test("many functions racing a shutdown are each run or refused")
    func shutdownRace() async throws {
        for _ in 0..<100 {
            let executor = ThreadExecutor()
            let runs = ConcurrencyMeter()
            let tasks = (0..<8).map { _ in
                Task {
                    do {
                        try await executor.run { runs.enter() }
                        return 1
                    } catch is ThreadExecutorError {
                        return 0
                    }
                }
            }
            await executor.shutDown()
            var succeeded = 0
            for task in tasks { succeeded += try await task.value }
            #expect(runs.total == succeeded)
        }
    }

    @Test("a task that needs the thread after its end stops the process with a message", .prompt)
    func usedAfterShutdown() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let executor = ThreadExecutor(name: "gone")
            await executor.shutDown()
            await Task(executorPreference: executor) {}.value
        }
        #expect(result.errorText.contains("\"gone\" after its shutdown"))
    }

    @Test("a thread that would wait for its own end stops the process with a message", .prompt)
    func shutdownFromWithin() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let executor = ThreadExecutor(name: "self")
            await Task(executorPreference: executor) { await executor.shutDown() }.value
        }
        #expect(result.errorText.contains("\"self\" cannot wait for its own end"))
    }

    @Test("a released executor finishes submitted work, and its last task may release it")
    func released() async throws {
        for _ in 0..<1000 {
            let done = Gate()
            do {
                let executor = ThreadExecutor()
                Task(executorPreference: executor) {
                    await Task.yield()
                    await done.pass()
                }
            }
            await done.waitForArrivals(1)
            done.open()
        }
    }
}
