/// A problem that is divided into smaller problems of the same kind.
protocol Divisible: Sendable {
    /// The number of times that a problem is divided. The parts of a round are solved at once, after the previous round.
    static var rounds: Int { get }

    /// Creates the problem of a size, which is at least 1.
    init(_ n: Int)

    /// The number of parts of a round; 0 if the problem is solved directly.
    var width: Int { get }

    func part(_ part: Int, _ round: Int) -> Self

    /// Solves a problem that has no parts.
    func solve() -> Int

    /// Returns the result of the whole problem, from the sum of what `solve` returned for all parts.
    func result(_ sum: Int) -> Int

    static func expected(_ n: Int) -> Int
}

extension Divisible {
    static var rounds: Int { 1 }

    func result(_ sum: Int) -> Int { sum }

    /// The number of parts, and their parts, and so on. Takes time linear in the number.
    var partCount: Int {
        (0..<Self.rounds).reduce(0) { count, round in
            (0..<width).reduce(count) { $0 + 1 + part($1, round).partCount }
        }
    }

    /// Returns the largest size with at most the given number of parts, or else the smallest that has parts.
    static func largest(parts: Int) -> Int {
        var n = 1
        while Self(n).partCount == 0 { n += 1 }
        while Self(n + 1).partCount <= parts { n += 1 }
        return n
    }

    func check(_ result: Int, _ n: Int) throws {
        let expected = Self.expected(n)
        if result != expected { throw WrongResult(description: "\(Self.self) of \(n) is \(expected), not \(result)") }
    }
}

struct WrongResult: Error, CustomStringConvertible {
    let description: String
}

/// A Fibonacci number, by its definition.
struct Fibonacci: Divisible {
    private let n: Int

    init(_ n: Int) { self.n = n }

    var width: Int { n < 2 ? 0 : 2 }
    func part(_ part: Int, _ round: Int) -> Fibonacci { Fibonacci(n - 1 - part) }
    func solve() -> Int { n }

    static func expected(_ n: Int) -> Int { (0..<n).reduce((0, 1)) { pair, _ in (pair.1, pair.0 + pair.1) }.0 }
}

/// The sum of the numbers below 10ⁿ, by a tree with ten branches: https://github.com/atemerev/skynet
struct Skynet: Divisible {
    private let first: Int
    private let count: Int

    init(_ n: Int) { self.init(first: 0, count: (0..<n).reduce(1) { power, _ in power * 10 }) }

    private init(first: Int, count: Int) { (self.first, self.count) = (first, count) }

    var width: Int { count == 1 ? 0 : 10 }
    func part(_ part: Int, _ round: Int) -> Skynet { Skynet(first: first + part * (count / 10), count: count / 10) }
    func solve() -> Int { first }

    static func expected(_ n: Int) -> Int {
        let count = Skynet(n).count
        return count * (count - 1) / 2
    }
}

/// The number of ways to place n queens, one in each row, that do not attack each other. Each square of the next row
/// is a bit.
struct Queens: Divisible {
    private let all: UInt32
    /// The attacked squares: by columns, and by the diagonals in both directions.
    private var (columns, left, right): (UInt32, UInt32, UInt32) = (0, 0, 0)

    init(_ n: Int) { all = 1 << UInt32(n) - 1 }

    private var open: UInt32 { all & ~(columns | left | right) }

    var width: Int { open.nonzeroBitCount }

    func part(_ part: Int, _ round: Int) -> Queens {
        var open = open
        for _ in 0..<part { open &= open - 1 }
        let queen = open & ~(open - 1)
        var next = self
        next.columns |= queen
        next.left = (left | queen) << 1
        next.right = (right | queen) >> 1
        return next
    }

    func solve() -> Int { columns == all ? 1 : 0 }

    static func expected(_ n: Int) -> Int {
        [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14_200, 73_712, 365_596][n]
    }
}

/// The product of two matrices of 2ⁿ rows whose elements are 1. Each quarter of the result is the sum of two products
/// of quarters, which are added in two rounds. The result is the number of right elements.
struct Product: Divisible {
    static let rounds = 2

    private let matrices: Matrices
    /// The places of the submatrices, and the number of their rows.
    private var (a, b, c, size) = (0, 0, 0, 0)

    init(_ n: Int) {
        matrices = Matrices(rows: 1 << n)
        size = 1 << n
    }

    var width: Int { size <= 32 ? 0 : 4 }

    func part(_ part: Int, _ round: Int) -> Product {
        let (half, rows) = (size / 2, matrices.rows)
        let (row, column, inner) = (part / 2 * half, part % 2 * half, round * half)
        var next = self
        next.a += row * rows + inner
        next.b += inner * rows + column
        next.c += row * rows + column
        next.size = half
        return next
    }

    func solve() -> Int {
        let (a, b, c, rows) = (matrices.a + a, matrices.b + b, matrices.c + c, matrices.rows)
        for i in 0..<size {
            for k in 0..<size {
                for j in 0..<size { c[i &* rows &+ j] &+= a[i &* rows &+ k] &* b[k &* rows &+ j] }
            }
        }
        return 0
    }

    func result(_ sum: Int) -> Int {
        UnsafeBufferPointer(start: matrices.c, count: matrices.rows * matrices.rows).count { $0 == matrices.rows }
    }

    static func expected(_ n: Int) -> Int { 1 << (2 * n) }
}

/// The elements of two factors and of their product, row by row.
private final class Matrices: @unchecked Sendable {  // The parts of a round write disjoint elements of `c` only.
    let rows: Int
    let a, b, c: UnsafeMutablePointer<Int32>

    init(rows: Int) {
        self.rows = rows
        (a, b, c) = (Self.elements(1, rows), Self.elements(1, rows), Self.elements(0, rows))
    }

    private static func elements(_ value: Int32, _ rows: Int) -> UnsafeMutablePointer<Int32> {
        let elements = UnsafeMutablePointer<Int32>.allocate(capacity: rows * rows)
        elements.initialize(repeating: value, count: rows * rows)
        return elements
    }

    deinit { for matrix in [a, b, c] { matrix.deallocate() } }
}
