/// The measurements of one subject in one case at one size.
struct Figure: Sendable {
    let caseName: String
    let variant: String?
    let subject: SubjectName
    let size: Int
    let rounds: Int
    let nsPerOperation: Spread
    /// The median of the bytes for each operation; nil if the case does not measure memory.
    let bytesPerOperation: Double?
    /// The maximum number of threads of the process during the measurement; nil if it is unknown.
    let threads: Int?

    /// The cost that the case measures.
    var cost: Double { bytesPerOperation ?? nsPerOperation.median }

    /// The case and its variant, as in `suspending, width 64`.
    var title: String { variant.map { "\(caseName), \($0)" } ?? caseName }

    /// Whether both figures belong to the same comparison.
    func isComparable(to other: Figure) -> Bool { title == other.title && size == other.size }
}

extension [Figure] {
    /// The cost of this library divided by the cost of another subject; nil for the library itself, or if it has no
    /// figure in the same comparison.
    func ratio(to figure: Figure) -> Double? {
        if figure.subject.isOurs { return nil }
        return first { $0.subject.isOurs && $0.isComparable(to: figure) }.map { $0.cost / figure.cost }
    }
}
