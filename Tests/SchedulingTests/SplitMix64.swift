@testable import TaskOperations

/// A generator whose whole sequence follows from its seed, so that a failing test can be run again.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(bitPattern: Int64(seed))
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Whether something happens that does so in this many of a hundred cases.
    mutating func happens(percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    mutating func number(below bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &self)
    }

    mutating func level() -> PriorityLevel {
        PriorityLevel.allCases.randomElement(using: &self)!
    }
}
