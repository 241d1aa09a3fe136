/// A rule that moves waiting operations forward, so that more urgent operations cannot delay them forever.
public struct OperationAgeing: Hashable, Sendable {
    /// The waiting time after which an operation is treated as one priority higher.
    public let interval: Duration

    /// Treats a waiting operation as one priority higher for each interval since its addition, up to the highest
    /// priority. The priority of its task does not change.
    ///
    /// - Parameter interval: The interval, which must be positive.
    public static func raise(after interval: Duration) -> OperationAgeing {
        require(interval > .zero, "the interval of ageing is \(interval); it must be positive.")
        return OperationAgeing(interval: interval)
    }

    private init(interval: Duration) { self.interval = interval }
}

/// The arrival times of the operations of a queue.
///
/// Ageing requires the order `.firstInFirstOut`. The first operation of each level has therefore waited longest in its
/// level. So only the first operations of the levels are compared.
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

    /// The level at which an operation competes at a time. It increases with the operation's age.
    func level(of slot: Int, _ level: PriorityLevel, at time: Duration) -> PriorityLevel {
        var (raised, age) = (level.rawValue, time - (arrivals[slot] ?? time))
        while age >= ageing.interval, raised < PriorityLevel.userInteractive.rawValue {
            raised += 1
            age -= ageing.interval
        }
        return PriorityLevel(rawValue: raised)!
    }
}
