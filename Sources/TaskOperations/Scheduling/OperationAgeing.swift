/// How operations that wait come before more urgent ones in the end.
public struct OperationAgeing: Hashable, Sendable {
    /// The time after which an operation is ordered one priority higher.
    public let interval: Duration

    /// Orders an operation one priority higher for each interval since it was added, up to the highest.
    ///
    /// - Parameter interval: The interval; positive.
    public static func raise(after interval: Duration) -> OperationAgeing {
        require(interval > .zero, "the interval of ageing is \(interval); it must be positive.")
        return OperationAgeing(interval: interval)
    }

    private init(interval: Duration) { self.interval = interval }
}

/// The times from which the operations of a queue have waited. In each level, the operation that arrived first has
/// waited longest, so only these operations need be compared.
struct Ages: Sendable {
    let ageing: OperationAgeing
    /// By slot.
    private var arrivals: [Int: Duration] = [:]

    init(_ ageing: OperationAgeing) {
        self.ageing = ageing
    }

    mutating func arrive(_ slot: Int, at time: Duration) { arrivals[slot] = time }

    mutating func leave(_ slot: Int) {
        arrivals[slot] = nil
        if arrivals.isEmpty { arrivals = [:] }
    }

    /// The level by which an operation of a level is ordered.
    func level(of slot: Int, _ level: PriorityLevel, at time: Duration) -> PriorityLevel {
        var (raised, age) = (level.rawValue, time - (arrivals[slot] ?? time))
        while age >= ageing.interval, raised < PriorityLevel.userInteractive.rawValue {
            raised += 1
            age -= ageing.interval
        }
        return PriorityLevel(rawValue: raised)!
    }
}
