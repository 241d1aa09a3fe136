import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Each pair of options, with each way of adding an operation. Both options must have their effect.
@Suite("Options compose", .inTurns, .endsInTime)
struct OptionPairTests {
    @Test("Each pair of options has both effects", .schedules(2), arguments: AddingWay.allCases)
    func pairs(way: AddingWay) async throws {
        for first in CheckedOption.allCases {
            for second in CheckedOption.allCases where second != first {
                try await OptionCheck(way, [first, second]).run()
            }
        }
    }

    @Test("All options together have all effects", .schedules(2), arguments: AddingWay.allCases)
    func all(way: AddingWay) async throws {
        try await OptionCheck(way, CheckedOption.allCases).run()
    }

    @Test("The defaults of a queue have the effect of options", .schedules(2), arguments: CheckedOption.allCases)
    func defaults(option: CheckedOption) async throws {
        if option == .name || option == .dependency { return }
        // A repetition sets the delay of each round itself.
        for way in AddingWay.allCases where option != .delay || way != .repeating {
            try await OptionCheck(way, [option], areDefaults: true).run()
        }
    }

    @Test("An option of the operation takes precedence over a default; limits add up")
    func precedence() {
        let (first, second) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let queue = TaskOperationQueue(
            .init(isSuspended: true, defaults: [.weight(2), .priority(.low), .limit(first)]))
        let own = queue.addOperation([.weight(3), .priority(.high), .limit(second)]) {}
        let plain = queue.addOperation {}
        #expect((own.weight, own.priority, own.limits.count) == (3, .high, 2))
        #expect((plain.weight, plain.priority, plain.limits.count) == (2, .low, 1))
        queue.cancelAllOperations()
    }

    @Test("An operation that a queue refuses has lost the defaults of that queue")
    func refused() throws {
        let queue = TaskOperationQueue(.init(defaults: [.weight(2), .priority(.low)]))
        let (operation, other) = (TaskOperation {}, TaskOperation(name: "other") {})
        try other.start()
        #expect(refusal { try queue.addOperations([operation, other]) }?.alreadyAdded == "other")
        #expect((operation.weight, operation.priority) == (1, .medium))
    }
}

enum AddingWay: CaseIterable, Sendable {
    case closure, body, input, inputs, callback, made, late, barrier, run, room, group, key, repeating
}

enum CheckedOption: CaseIterable, Sendable {
    case name, priority, weight, limit, dependency, delay, startLimit, endLimit, timeout, attemptTimeout, retry
}

/// Adds an operation with options in one way, lets it run twice, and checks the effect of each option.
private struct OptionCheck {
    private struct Doubled: TaskOperationBody {
        let work: @Sendable () async throws -> Int
        func main() async throws -> Int { try await work() }
    }

    private let way: AddingWay
    private let options: [CheckedOption]
    private let areDefaults: Bool
    private let clock = ManualClock()
    private let limit = AsyncSemaphore(capacity: 1)
    private let dependency = TaskOperation(name: "dependency") {}
    private let starts = Recorder<Duration>()

    init(_ way: AddingWay, _ options: [CheckedOption], areDefaults: Bool = false) {
        (self.way, self.options, self.areDefaults) = (way, options, areDefaults)
    }

    private var value: OperationOptions {
        var all: [OperationOptions] = [.clock(clock)]
        for option in options {
            switch option {
            case .priority: all.append(.priority(.high))
            case .weight: all.append(.weight(3))
            case .limit: all.append(.limit(limit))
            case .name, .dependency: break
            case .delay: all.append(.delay(.seconds(1)))
            case .startLimit: all.append(.timeout(untilStart: .seconds(50)))
            case .endLimit: all.append(.timeout(untilEnd: .seconds(60)))
            case .timeout: all.append(.timeout(.seconds(40)))
            case .attemptTimeout: all.append(.timeout(perAttempt: .seconds(10)))
            case .retry: all.append(.retry(.immediately(attempts: 3)))
            }
        }
        return all.reduce([]) { [$0, $1] }
    }

    private func has(_ option: CheckedOption) -> Bool { options.contains(option) }

    func run() async throws {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 4, isSuspended: true,
                defaults: areDefaults ? value : OperationOptions()))
        let adding = Task {
            try await add(to: queue, areDefaults ? OperationOptions() : value)
        }
        await until { queue.operationCount > 0 }
        let operation = try #require(queue.operations.last)
        let label = "\(way) with \(options)"
        if has(.name) { #expect(operation.name == "named", "\(label)") }
        if has(.priority) { #expect(operation.priority == .high, "\(label)") }
        if has(.weight) { #expect(operation.weight == 3, "\(label)") }
        if has(.limit) { #expect(operation.limits.count == 1, "\(label)") }
        if has(.dependency) { #expect(operation.dependencies.contains(dependency), "\(label)") }
        queue.isSuspended = false
        if has(.dependency) {
            #expect(!operation.isReady, "\(label)")
            try TaskOperationQueue().addOperation(dependency)
            try await dependency.value
        }
        if has(.delay) {
            #expect(!operation.isReady, "\(label)")
            clock.advance(by: .seconds(1))
        }
        // The body sleeps. Each attempt ends at its own limit, and the operation ends at the earliest of the other
        // limits.
        let isLimited = has(.endLimit) || has(.timeout) || has(.attemptTimeout)
        let attemptCount = has(.retry) ? 3 : 1
        for number in 1...(has(.attemptTimeout) ? attemptCount : 1) {
            await until { starts.events.count == number }
            if has(.limit) { #expect(!limit.tryAcquire(), "\(label)") }
            await clock.waitForSleepers(1)
            if isLimited { clock.advance(by: .seconds(has(.attemptTimeout) ? 10 : 60)) }
        }
        if !isLimited {
            // Every attempt ends with the body's own error.
            for number in 2..<(attemptCount + 1) {
                clock.advance(by: .seconds(1000))
                await until { starts.events.count == number }
                await clock.waitForSleepers(1)
            }
            clock.advance(by: .seconds(1000))
        }
        let result = await adding.result
        #expect(starts.events.count == (isLimited && !has(.attemptTimeout) ? 1 : attemptCount), "\(label)")
        #expect(throws: (any Error).self, "\(label)") { try result.get() }
        if has(.limit) { #expect(await eventually { limit.tryAcquire() }, "\(label)") }
    }

    private func work() async throws -> Int {
        starts.record(clock.now.offset)
        try await clock.sleep(for: .seconds(1000))
        throw WorkFailed(number: 1)
    }

    private func add(to queue: TaskOperationQueue, _ options: OperationOptions) async throws -> Int {
        let name = has(.name) ? "named" : nil
        let dependencies = has(.dependency) ? [dependency] : []
        switch way {
        case .closure:
            return try await queue.addOperation(name: name, dependencies: dependencies, options) { try await work() }
                .value
        case .body:
            return try await queue.addOperation(Doubled(work: work), name: name, dependencies: dependencies, options)
                .value
        case .input:
            return try await queue.addOperation(name: name, dependencies: dependencies, options, after: try made(1)) {
                _ in try await work()
            }.value
        case .inputs:
            let inputs = [try made(1), try made(2)]
            return try await queue.addOperation(name: name, dependencies: dependencies, options, after: inputs) { _ in
                try await work()
            }.value
        case .callback:
            return try await queue.addOperation(name: name, dependencies: dependencies, options) {
                (completion: CompletionHandler<Int>) in
                let task = Task {
                    completion(await Task { try await work() }.result)
                }
                completion.onCancel { completion in
                    task.cancel()
                    completion(throwing: CancellationError())
                }
            }.value
        case .made:
            let operation = TaskOperation(name: name, dependencies: dependencies, options) { try await work() }
            try queue.addOperation(operation)
            return try await operation.value
        case .late:
            let operation = TaskOperation(name: name, dependencies: dependencies) { try await work() }
            try operation.addOptions(options)
            try queue.addOperation(operation)
            return try await operation.value
        case .barrier:
            return try await queue.addBarrier(name: name, dependencies: dependencies, options) { try await work() }
                .value
        case .run: return try await queue.run(name: name, dependencies: dependencies, options) { try await work() }
        case .room:
            return try await queue.addOperationWaitingForRoom(name: name, dependencies: dependencies, options) {
                try await work()
            }.value
        case .group:
            return try await queue.addGroup(name: name, dependencies: dependencies, options) { _ in try await work() }
                .value
        case .key:
            return try await KeyedOperations<Int, Int>(queue: queue).value(
                for: 1, name: name, dependencies: dependencies, options
            ) { try await work() }
        case .repeating:
            queue.addRepeating(name: name, dependencies: dependencies, options, every: .seconds(10_000), times: 1) {
                _ = try await work()
            }
            try await (queue.operations.last as? TaskOperation<Void>)?.value
            return 0
        }
    }

    private func made(_ number: Int) throws -> TaskOperation<Int> {
        let operation = TaskOperation { number }
        try TaskOperationQueue().addOperation(operation)
        return operation
    }
}
