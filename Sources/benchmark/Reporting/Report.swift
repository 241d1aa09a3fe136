/// A printed report for people, in parts.
protocol Report {
    /// The text above all figures.
    var head: String { get }

    /// The lines of figures that are side by side.
    func lines(_ comparison: [Figure]) -> [String]

    /// The text below all figures.
    func foot(_ figures: [Figure]) -> [String]
}
