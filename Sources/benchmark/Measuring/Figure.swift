/// The measurements of one subject in one case at one size.
struct Figure: Sendable {
    let caseName: String
    let variant: String?
    let subject: SubjectName
    let size: Int
    let rounds: Int
    let nsPerOperation: Spread
    /// The median; nil if the case is not about memory.
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
    /// The cost of this library divided by that of another subject; nil for the library itself, and where it was
    /// not measured beside it.
    func ratio(to figure: Figure) -> Double? {
        if figure.subject.isOurs { return nil }
        return first { $0.subject.isOurs && $0.isComparable(to: figure) }.map { $0.cost / figure.cost }
    }
}
