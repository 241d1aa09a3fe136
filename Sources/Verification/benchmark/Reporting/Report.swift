/// A printed report, in parts.
protocol Report {
    /// The text above all figures.
    var head: String { get }

    /// The lines for the figures of one comparison.
    func lines(_ comparison: [Figure]) -> [String]

    /// The text below all figures.
    func foot(_ figures: [Figure]) -> [String]
}
