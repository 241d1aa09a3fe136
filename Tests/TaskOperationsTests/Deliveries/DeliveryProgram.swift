import TaskOperations
import TaskOperationsDeliveries
import TaskOperationsTesting

/// A random program of workers that consume one in-memory engine. Bodies misbehave, calls fail, and workers crash and
/// shut down. The seed determines all of it. Times are in seconds.
struct DeliveryProgram: Sendable {
    enum Step: Sendable {
        case sleep(Int)
        /// A sleep that ignores cancellation.
        case hang(Int)
        case progress
        case yield
        case fail
    }

    enum Event: Sendable {
        /// The process is killed. No further call from its deliveries reaches the engine.
        case crash
        case cancel
        case shutDown(isCancelling: Bool)
        case suspend
        case resume
        case setWidth(Int)
        case cancelAll(hasCause: Bool)
    }

    struct Worker: Sendable {
        var width = 1
        var configuration = ConsumerConfiguration()
        var events: [(time: Int, event: Event)] = []
    }

    struct Payload: Sendable {
        var kind = 0
        /// The steps of each attempt. Further attempts repeat the last entry.
        var attempts: [[Step]] = []
    }

    static let leaseLength = 9

    let seed: UInt64
    var workers: [Worker] = []
    var payloads: [Payload] = []
    /// The options of each kind, except for limits.
    var kinds: [DeliveryOptions] = []
    var limitedKinds: Set<Int> = []
    var handlesPoison = false
    /// Of this number of calls, one fails or is slow; 0 for none.
    var faultRarity = 0
    /// The fate of the first answer; nil if it is treated like other calls.
    var answer: Answer?
    /// Whether a worker without faults ends the program. Everything must be acknowledged then.
    var isFinished = false

    init(seed: UInt64) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        func number(_ bound: Int) -> Int { generator.number(below: bound) }
        isFinished = number(2) == 0
        handlesPoison = number(2) == 0
        faultRarity = number(2) * (2 + number(12))
        for _ in 0..<1 + number(2) {
            var options = DeliveryOptions()
            options.lease.duration = .seconds(Self.leaseLength)
            options.lease.renewal = [.never, .whileProgressing, .upTo(.seconds(number(40)))][number(3)]
            options.redelivery = RetryPolicy { [pause = number(4)] _, attempt in
                attempt > 6 ? nil : .seconds(pause * attempt)
            }
            options.maxAttempts = 1 + number(5)
            options.key = number(4) == 0 ? "key" : nil
            options.operation = [.priority([.low, .medium, .high][number(3)]), .weight(1 + number(5) / 4)]
            if number(4) == 0 { options.operation = [options.operation, .timeout(.seconds(1 + number(12)))] }
            if number(4) == 0 { options.operation = [options.operation, .timeout(untilEnd: .seconds(1 + number(20)))] }
            if number(3) == 0 { options.operation = [options.operation, .overrun(.abandon)] }
            if number(4) == 0 { options.operation = [options.operation, .retry(.immediately(attempts: 2))] }
            if number(3) == 0 { limitedKinds.insert(kinds.count) }
            kinds.append(options)
        }
        for _ in 0..<1 + number(8) {
            let attempts = (0..<1 + number(3)).map { _ in (0..<number(4)).map { _ in Self.step(number) } }
            payloads.append(Payload(kind: number(kinds.count), attempts: attempts + (number(8) == 0 ? [] : [[]])))
        }
        for _ in 0..<1 + number(3) {
            var worker = Worker(width: 1 + number(3))
            worker.configuration.prefetch = max(0, number(4) - 1)
            worker.configuration.drainTime = .seconds(number(6))
            worker.configuration.backoff = .exponential(initial: .seconds(1), maximum: .seconds(4), attempts: .max)
            worker.configuration.options.lease.duration = .seconds(Self.leaseLength)
            for _ in 0..<number(4) { worker.events.append((number(30), Self.event(number))) }
            worker.events.sort { $0.time < $1.time }
            workers.append(worker)
        }
    }

    private static func step(_ number: (Int) -> Int) -> Step {
        switch number(10) {
        case 0...2: .sleep(1 + number(6))
        case 3: .sleep(10 + number(20))
        case 4: .hang(1 + number(30))
        case 5, 6: .progress
        case 7, 8: .yield
        default: .fail
        }
    }

    private static func event(_ number: (Int) -> Int) -> Event {
        switch number(9) {
        case 0: .crash
        case 1: .cancel
        case 2: .shutDown(isCancelling: number(2) == 0)
        case 3, 4: .suspend
        case 5, 6: .resume
        case 7: .setWidth(number(4))
        default: .cancelAll(hasCause: number(2) == 0)
        }
    }
}
