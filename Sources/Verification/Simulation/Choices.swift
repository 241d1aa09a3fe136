/// The source of a random program: a seed, or the bytes of a fuzzer.
public protocol Choices {
    /// A number from 0 to `bound - 1`.
    mutating func number(below bound: Int) -> Int
}

extension Choices {
    mutating func happens(percent: Int) -> Bool { number(below: 100) < percent }

    /// Makes a value with one of several makers, each with a probability that is proportional to its weight.
    mutating func pick<Made>(_ makers: [(weight: Int, make: (inout Self) -> Made)]) -> Made {
        var left = number(below: makers.reduce(0) { $0 + $1.weight })
        for (weight, make) in makers {
            left -= weight
            if left < 0 { return make(&self) }
        }
        preconditionFailure("no maker for what is left: \(left)")
    }
}

/// Choices from a sequence of bytes; 0 after the last byte.
public struct ByteChoices<Bytes: Sequence<UInt8>>: Choices {
    private var bytes: Bytes.Iterator

    public init(_ bytes: Bytes) {
        self.bytes = bytes.makeIterator()
    }

    public mutating func number(below bound: Int) -> Int { Int(bytes.next() ?? 0) % bound }
}
