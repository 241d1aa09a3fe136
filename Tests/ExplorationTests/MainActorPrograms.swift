import Exploration
import TaskOperations

/// Programs with bodies and calls on the main actor, which runs one job at a time.
enum MainActorPrograms {
    static let all = [cancelledThere, queueAndCancel, bodies, handler]

    /// Main-actor code that cancels an operation of the main queue can tell whether the body has begun.
    static let cancelledThere = ExploredProgram("main actor: add / cancel on it") { schedule in
        let tally = Tally()
        let operation = TaskOperation(name: "a") { tally.count("a") }
        schedule.thread("adder") { try? TaskOperationQueue.main.addOperation(operation) }
        schedule.thread("canceller") {
            Task { @MainActor in
                let hasBegun = tally["a"] > 0
                operation.cancel()
                if !hasBegun { tally.count("cancelled before") }
            }
        }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(tally["a"] + tally["cancelled before"] == 1, "\(tally.counts)")
        schedule.expect((tally["a"] == 1) == (operation.failure == nil), "\(tally.counts), \(operation)")
        schedule.expectEmpty(.main)
    }

    /// The bodies of the main queue run one at a time, although each of them yields.
    static let queueAndCancel = ExploredProgram("main actor: add / add / cancel") { schedule in
        let tally = Tally()
        let operations = (0..<2).map { number in
            TaskOperation(name: "\(number)") {
                tally.enter()
                await Task.yield()
                tally.count("\(number)")
                tally.leave()
            }
        }
        for operation in operations {
            schedule.thread("adder") { try? TaskOperationQueue.main.addOperation(operation) }
        }
        schedule.thread("canceller") { operations[0].cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operations[0], operations[1])
        schedule.expectOnce(tally)
        schedule.expect(tally.most == 1, "\(tally.most) bodies ran at once")
        schedule.expect(tally["1"] == 1, "\(tally.counts)")
        schedule.expectEmpty(.main)
    }

    /// Bodies of an ordinary queue that are isolated to the main actor.
    static let bodies = ExploredProgram("main actor: body / body / raise") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 2), Tally())
        let operations = (0..<2).map { number in
            TaskOperation(name: "\(number)") { @MainActor in
                MainActor.assertIsolated()
                tally.enter()
                schedule.pause()
                tally.leave()
                tally.count("\(number)")
            }
        }
        for operation in operations { schedule.thread("adder") { try? queue.addOperation(operation) } }
        schedule.thread("raiser") { operations[1].priority = .high }
        schedule.runToEnd()
        schedule.expectEnd(of: operations[0], operations[1])
        schedule.expect(tally.counts == ["0": 1, "1": 1], "\(tally.counts)")
        schedule.expect(tally.most == 1, "\(tally.most) jobs of the main actor ran at once")
        schedule.expectEmpty(queue)
    }

    /// Main-actor code awaits an operation whose body needs the main actor.
    static let handler = ExploredProgram("main actor: wait on it / body on it / cancel") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { await MainActor.run { tally.count("a") } }
        operation.addCompletionHandler { _ in tally.count("handler") }
        schedule.thread("waiter") {
            Task { @MainActor in
                try? await operation.waitUntilFinished()
                MainActor.assertIsolated()
                tally.count("waited")
            }
        }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("canceller") { operation.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expectOnce(tally)
        schedule.expect(tally["waited"] == 1 && tally["handler"] == 1, "\(tally.counts)")
        schedule.expectEmpty(queue)
    }
}
