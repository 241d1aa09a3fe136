/// A rule that raises waiting operations, so that they eventually start before more urgent ones.
public struct OperationAgeing: Hashable, Sendable {
    /// The time after which an operation is ordered one priority higher.
    public let interval: Duration

    /// Orders an operation one priority higher for each interval since its addition, up to the highest priority.
    ///
    /// - Parameter interval: The interval, which must be positive.
    public static func raise(after interval: Duration) -> OperationAgeing {
        require(interval > .zero, "the interval of ageing is \(interval); it must be positive.")
        return OperationAgeing(interval: interval)
    }

    private init(interval: Duration) { self.interval = interval }
}

/// The arrival times of the operations of a queue. The first operation of each level has waited longest in its level,
/// so only the first operations need be compared.
struct Ages: Sendable {
    let ageing: OperationAgeing
    /// The arrival time of the operation at each slot.
    private var arrivals: [Int: Duration] = [:]

    init(_ ageing: OperationAgeing) {
        self.ageing = ageing
    }

    mutating func arrive(_ slot: Int, at time: Duration) { arrivals[slot] = time }

    mutating func leave(_ slot: Int) {
        arrivals[slot] = nil
        if arrivals.isEmpty { arrivals = [:] }
    }

    /// The level that orders an operation at a time. The level increases with the operation's age.
    func level(of slot: Int, _ level: PriorityLevel, at time: Duration) -> PriorityLevel {
        var (raised, age) = (level.rawValue, time - (arrivals[slot] ?? time))
        while age >= ageing.interval, raised < PriorityLevel.userInteractive.rawValue {
            raised += 1
            age -= ageing.interval
        }
        return PriorityLevel(rawValue: raised)!
    }
}
