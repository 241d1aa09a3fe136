import TaskOperations
import TaskOperationsDeliveries

/// The possible events of a delivery.
enum DeliveryMoment: Sendable {
    case leaseEnd
    /// The body returns or throws.
    case completion
    /// The engine performs the answer, which acknowledges or rejects the delivery.
    case answer
    /// The consumer receives the engine's reply.
    case reply
    case shutdown
    /// The drain time ends, and bodies are cancelled.
    case drainEnd

    /// The event that must not come after this one.
    private var predecessor: DeliveryMoment? {
        switch self {
        case .answer: .completion
        case .reply: .answer
        case .drainEnd: .shutdown
        case .leaseEnd, .completion, .shutdown: nil
        }
    }

    /// Returns all orders of the events. The events of one group happen in the same second.
    ///
    /// - Parameter withTies: Whether a group may have several events.
    static func orders(of events: [DeliveryMoment], withTies: Bool) -> [[[DeliveryMoment]]] {
        events.reduce([[]]) { orders, event in
            orders.flatMap { order in
                let predecessor = order.firstIndex { $0.contains { $0 == event.predecessor } }
                let apart = ((predecessor ?? -1) + 1...order.count).map { place in
                    var order = order
                    order.insert([event], at: place)
                    return order
                }
                let tied = ((predecessor ?? 0)..<(withTies ? order.count : predecessor ?? 0)).map { place in
                    var order = order
                    order[place].append(event)
                    return order
                }
                return apart + tied
            }
        }
    }
}

extension DeliveryProgram {
    /// The fate of the first answer to the first delivery. Times are in seconds.
    struct Answer: Sendable {
        enum Loss: CaseIterable, Sendable {
            case none, call, reply
        }

        /// The time from the call until the engine performs it.
        let delay: Int
        /// The time from the performed answer until the reply arrives.
        let replyDelay: Int
        let loss: Loss
    }

    /// Returns programs of one worker and one payload. They cover each order of the events, bodies that succeed or fail
    /// and heed or ignore cancellation, each way to shut down, and each part of the answer that can be lost.
    static func ofEveryOrder(withTies: Bool) -> [DeliveryProgram] {
        let events: [DeliveryMoment] = [.leaseEnd, .completion, .answer, .reply, .shutdown]
        var programs: [DeliveryProgram] = []
        for shutdown in [Event.cancel, .shutDown(isCancelling: false), .shutDown(isCancelling: true)] {
            let hasDrainTime = if case .cancel = shutdown { true } else { false }
            for order in DeliveryMoment.orders(of: events + (hasDrainTime ? [.drainEnd] : []), withTies: withTies) {
                for (succeeds, heeds) in [(true, true), (true, false), (false, true), (false, false)] {
                    for loss in Answer.Loss.allCases {
                        programs.append(
                            DeliveryProgram(
                                seed: UInt64(programs.count), order, shutdown, loss, succeeds: succeeds, heeds: heeds))
                    }
                }
            }
        }
        return programs
    }

    private init(
        seed: UInt64, _ order: [[DeliveryMoment]], _ shutdown: Event, _ loss: Answer.Loss, succeeds: Bool, heeds: Bool
    ) {
        func rank(_ event: DeliveryMoment) -> Int { order.firstIndex { $0.contains(event) } ?? 0 }
        func time(_ event: DeliveryMoment) -> Int { Self.leaseLength + rank(event) - rank(.leaseEnd) }
        self.seed = seed
        isFinished = true
        var options = DeliveryOptions()
        options.lease = DeliveryLease(.seconds(Self.leaseLength), renewal: .never)
        kinds = [options]
        let step = heeds ? Step.sleep(time(.completion)) : .hang(time(.completion))
        payloads = [Payload(attempts: [[step] + (succeeds ? [] : [.fail]), []])]
        answer = Answer(
            delay: time(.answer) - time(.completion), replyDelay: time(.reply) - time(.answer), loss: loss)
        var worker = Worker(width: 2)
        worker.configuration.drainTime = .seconds(max(0, time(.drainEnd) - time(.shutdown)))
        worker.configuration.backoff = RetryPolicy { _, _ in .seconds(1) }
        worker.events = [(time(.shutdown), shutdown)]
        workers = [worker]
    }
}
