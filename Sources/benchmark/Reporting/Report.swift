/// What is printed for people, piece by piece.
protocol Report {
    /// What stands above all figures.
    var head: String { get }

    /// The lines of figures that stand side by side.
    func lines(_ comparison: [Figure]) -> [String]

    /// What stands below all figures.
    func foot(_ figures: [Figure]) -> [String]
}
