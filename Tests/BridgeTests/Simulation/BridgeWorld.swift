import Foundation
import Simulation
import TaskOperations
import TaskOperationsTesting

@testable import TaskOperationsBridge

/// The queues and operations of a program, and their model. After each step, all work that can finish does so before
/// the next step.
///
/// Queues of this library run their work on the calling thread, in an order that the seed determines. Other threads do
/// the work of an `OperationQueue` and a few other things. Each step waits for them.
final class BridgeWorld {
    private let program: BridgeProgram
    private let executor: SeededExecutor
    private let events = Recorder<BridgeModel.Event>()
    private var eventsTaken = 0
    private var subjects: [BridgeSubject] = []
    private var queues: [AnyQueue] = []
    /// The operations that a queue of this library returned for operations of Foundation.
    private var runners: [Int: AnyTaskOperation] = [:]
    private var model: BridgeModel
    private var done: [String] = []

    init(_ program: BridgeProgram) {
        self.program = program
        executor = SeededExecutor(seed: program.seed)
        model = BridgeModel(program)
        for queue in program.queues { queues.append(made(queue)) }
        for (number, operation) in program.operations.enumerated() {
            subjects.append(BridgeSubject(number, style: operation.style, events: events))
        }
    }

    private func made(_ queue: BridgeProgram.Queue) -> AnyQueue {
        if queue.kind == .ours {
            return .ours(
                TaskOperationQueue(
                    .init(maxConcurrentOperationCount: queue.width, isSuspended: queue.isSuspended, executor: executor))
            )
        }
        let made = queue.kind.make(width: queue.width, isSuspended: queue.isSuspended)
        if case .foundation(let bridged as BridgedOperationQueue) = made { bridged.executor.run(on: executor) }
        return made
    }

    /// Performs all steps. Returns the errors and the steps before them; empty if there are none.
    func run() throws -> [String] {
        for (number, operation) in program.operations.enumerated() {
            for other in operation.dependencies {
                try subjects[number].operation.addDependency(subjects[other].operation)
            }
        }
        for step in program.steps {
            try take(step)
            if !model.violations.isEmpty { return model.violations + done }
        }
        try finishAll()
        if model.violations.isEmpty { letGo() }
        return model.violations.isEmpty ? [] : model.violations + done
    }

    /// Performs the remaining steps without which some operation cannot end.
    private func finishAll() throws {
        for queue in queues.indices { try take(.setSuspended(queue, false)) }
        for number in subjects.indices {
            try take(.becomeReady(number))
            try take(.add([number]))
        }
        while let number = subjects.indices.first(where: { model.operations[$0].phase == .executing }) {
            try take(.finish(number))
            if !model.violations.isEmpty { return }
        }
        for number in subjects.indices where model.operations[number].phase != .finished {
            model.complain("\(number) is not finished at the end: \(model.operations[number])")
        }
    }

    /// Checks that objects without references are freed.
    private func letGo() {
        let left = subjects.map { BridgeWitness($0.operation) } + queues.map { BridgeWitness($0) }
        (subjects, queues, runners) = ([], [], [:])
        if !waits(for: .seconds(1200), { left.allSatisfy { $0.object == nil } }) {
            model.complain("not freed: \(left.indices.filter { left[$0].object != nil })")
        }
    }
}

// MARK: - Steps

extension BridgeWorld {
    private func take(_ step: BridgeProgram.Step) throws {
        if try !perform(step) { return }
        done.append("\(step)")
        settle()
    }

    /// Performs a step. Returns false if the step is not possible now.
    private func perform(_ step: BridgeProgram.Step) throws -> Bool {
        switch step {
        case .add(let numbers): return try add(numbers)
        case .cancel(let number, let byRunner):
            if byRunner, let runner = runners[number] { runner.cancel() } else { subjects[number].operation.cancel() }
            model.cancel(number)
        case .becomeReady(let number):
            if model.operations[number].isReady { return false }
            subjects[number].becomeReady()
            model.becomeReady(number)
        case .finish(let number):
            guard model.operations[number].phase == .executing, let finish = subjects[number].finish else {
                return false
            }
            finish()
        case .link(let number, let other):
            if number == other || !model.isPending(number) || model.operations[number].isCancelled { return false }
            try subjects[number].operation.addDependency(subjects[other].operation)
            model.link(number, to: other)
        case .unlink(let number, let other):
            // On Linux, a Foundation operation never starts after the removal of an unfinished dependency.
            let operation = model.operations[number]
            if !model.isPending(number) || !operation.isOurs || !operation.dependencies.contains(other) { return false }
            try subjects[number].operation.removeDependency(subjects[other].operation)
            model.unlink(number, from: other)
        case .setSuspended(let queue, let isSuspended):
            queues[queue].setSuspended(isSuspended)
            model.setSuspended(queue, isSuspended)
        case .setWidth(let queue, let width):
            queues[queue].setWidth(width)
            model.setWidth(queue, width)
        case .addAgain(let number): return addAgain(number)
        case .closeCycle(let number, let other): return closeCycle(number, over: other)
        case .cancelAll(let queue):
            queues[queue].cancelAll()
            for number in subjects.indices
            where model.operations[number].isAdded && program.operations[number].queue == queue {
                model.cancel(number)
            }
        }
        return true
    }

    private func addAgain(_ number: Int) -> Bool {
        let operation = model.operations[number]
        // An `OperationQueue` does not list an operation that it is about to start.
        if !operation.isAdded || model.queues[operation.queue].isFoundations { return false }
        expectRefusal("adding \(number) again") { try subjects[number].operation.addAgain() }
        return true
    }

    /// Makes `addDependency` of this library refuse a cycle; only this function can. It checks the dependencies that
    /// existed before the operations were added.
    private func closeCycle(_ number: Int, over other: Int) -> Bool {
        guard model.operations[number].isOurs, number < other else { return false }
        let isDirect = program.operations[other].dependencies.contains(number)
        guard isDirect, model.isPendingPath([other, number]) else { return false }
        expectRefusal("a cycle of \(number) and \(other)") {
            try subjects[number].operation.addDependency(subjects[other].operation)
        }
        return true
    }

    private func expectRefusal(_ call: String, _ make: () throws -> Void) {
        do {
            try make()
            model.complain("\(call) was not refused")
        } catch {}
    }

    private func add(_ numbers: [Int]) throws -> Bool {
        let queue = program.operations[numbers[0]].queue
        let new = numbers.filter { number in
            program.operations[number].queue == queue && !model.operations[number].isAdded
                && !(model.operations[number].isOurs && model.operations[number].phase == .finished)
        }
        if new.isEmpty { return false }
        for number in new { subjects[number].operation.prepare() }
        let runners = try queues[queue].add(new.map { subjects[$0].operation })
        for (number, runner) in zip(new, runners) {
            self.runners[number] = runner
        }
        for number in new { model.add(number) }
        return true
    }
}

// MARK: - Coming to rest

extension BridgeWorld {
    /// Waits for all expected events, and reports unexpected and missing ones.
    private func settle() {
        // Foundation's queues lose operations, and the tests tolerate this. So they do not wait long for them.
        let isFoundations = program.queues.allSatisfy { $0.kind == .foundation }
        let hasSettled = waits(for: .seconds(isFoundations ? 20 : 1200)) { self.takeEvents() }
        guard !hasSettled, model.violations.isEmpty else { return }
        let states = subjects.map { "\($0.operation), finished: \($0.operation.isFinished)" }
        model.complain("does not come to rest: \(model.operations) \(states)")
    }

    /// Passes new events to the model. Returns whether no further event must follow.
    private func takeEvents() -> Bool {
        // The events are read before the finished operations. An operation that begins in between may depend on an
        // operation that finishes in between.
        let all = events.events
        for number in subjects.indices where subjects[number].operation.isFinished {
            model.wasFinishedByFoundation(number)
        }
        for event in all[eventsTaken...] { model.happened(event) }
        eventsTaken = all.count
        if !model.violations.isEmpty { return true }
        return model.isSettled
            && subjects.indices.allSatisfy { number in
                let phase = model.operations[number].phase
                // An operation that finishes without a step of the program does not remain in execution.
                if phase == .executing, subjects[number].finish == nil { return false }
                return subjects[number].operation.isFinished == (phase == .finished)
            }
    }

    /// Runs available work until the condition is true. Returns false after a timeout. Other tests of this process may
    /// occupy all threads of the pool for a long time.
    private func waits(for timeout: Duration, _ condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + timeout
        var looks = 0
        while true {
            try? executor.run {}
            if condition() { return true }
            looks += 1
            if looks > 50 {
                if ContinuousClock.now > end { return false }
                usleep(50)
            } else {
                sched_yield()
            }
        }
    }
}
