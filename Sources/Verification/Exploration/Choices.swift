/// The choices of a schedule. Most choices are 0: the same thread continues, or a load returns the last store. So only
/// the other choices are stored.
public struct Choices: Hashable, Sendable {
    struct Deviation: Hashable, Sendable {
        let position: Int
        let value: Int
    }

    private(set) var count = 0
    var deviations: [Deviation] = []

    mutating func append(_ value: Int) {
        if value != 0 { deviations.append(Deviation(position: count, value: value)) }
        count += 1
    }
}

extension Choices: LosslessStringConvertible {
    /// Parses choices such as `12:1,45:2`: choice 12 is 1, choice 45 is 2, and all others are 0.
    public init?(_ description: String) {
        for part in description.split(separator: ",") {
            let numbers = part.split(separator: ":").compactMap { Int($0) }
            guard numbers.count == 2 else { return nil }
            deviations.append(Deviation(position: numbers[0], value: numbers[1]))
        }
    }

    public var description: String {
        deviations.map { "\($0.position):\($0.value)" }.joined(separator: ",")
    }
}
