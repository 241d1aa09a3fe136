/// Random choices. The same seed gives the same choices.
///
/// This is SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014).
public struct SeededChoices: Choices, RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. The seed determines the whole sequence.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound - 1`. Without optimisation it is much faster than `Int.random(in:using:)`.
    public mutating func number(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
