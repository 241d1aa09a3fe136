import Foundation
import TestSupport
import Testing

@testable import benchmark

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Benchmark: charts", .inTurns)
struct ChartTests {
    @Test("No text of the growth chart covers another or leaves the picture", arguments: [0.016, 0.3, 1, 5, 1000])
    func growth(scale: Double) throws {
        let item = try #require(Catalogue.cases.first { $0.name == Chart.caseName })
        let figures = ["independent", "chain", "fan-out"].flatMap { variant in
            item.subjects.flatMap { subject in
                item.sizes.map { Self.figure(variant, subject.name, size: Int(scale * Double($0))) }
            }
        }
        try expectLegible(Chart.svg(figures))
    }

    @Test("No text of a chart with one panel leaves the picture")
    func onePanel() throws {
        let subjects = [SubjectName.taskOperationQueue, .operationQueue, .dispatchQueue, .task]
        try expectLegible(Chart.svg(subjects.map { Self.figure("chain", $0, size: 1000) }))
    }

    @Test(
        "No text of a picture in the documentation covers another or leaves the picture",
        arguments: [
            "TaskOperations/TaskOperations.docc/growth.svg",
            "TaskOperationsExtras/TaskOperationsExtras.docc/adapting-capacity.svg",
        ])
    func documentation(path: String) throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources")
        try expectLegible(String(contentsOf: sources.appending(path: path), encoding: .utf8))
    }

    private func expectLegible(_ svg: String) throws {
        let picture = try #require(Picture(svg))
        #expect(picture.texts.count > 5)
        for text in picture.texts {
            #expect(text.span.lowerBound >= 0 && text.span.upperBound <= picture.width, "\(text) leaves the picture")
        }
        for (baseline, texts) in Dictionary(grouping: picture.texts, by: \.baseline) {
            let sorted = texts.sorted { $0.span.lowerBound < $1.span.lowerBound }
            for (one, next) in zip(sorted, sorted.dropFirst()) {
                #expect(one.span.upperBound < next.span.lowerBound, "\(one) covers \(next) at \(baseline)")
            }
        }
    }

    private static func figure(_ variant: String, _ subject: SubjectName, size: Int) -> Figure {
        Figure(
            caseName: Chart.caseName, variant: variant, subject: subject, size: size, rounds: 1,
            nsPerOperation: Spread([Double(size)]), bytesPerOperation: nil, threads: nil)
    }
}

/// The texts of an SVG document, with positions in the document.
private final class Picture: NSObject, XMLParserDelegate {
    struct Text {
        let content: String
        let baseline: Double
        /// An estimate, with 0.6 em for each character.
        let span: ClosedRange<Double>
    }

    private(set) var texts: [Text] = []
    private(set) var width = 0.0
    private let anchors: [String: String]
    private var origin = (x: 0.0, y: 0.0)
    private var attributes: [String: String] = [:]
    private var content = ""

    /// - Returns: nil if the document is not well-formed.
    init?(_ svg: String) {
        let anchors = svg.matches(of: #/\.([a-z]+) \{[^}]*text-anchor: ([a-z]+)/#)
        self.anchors = Dictionary(uniqueKeysWithValues: anchors.map { (String($0.1), String($0.2)) })
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        if !parser.parse() { return nil }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        (self.attributes, content) = (attributes, "")
        switch name {
        case "svg": width = Double(attributes["width"] ?? "") ?? 0
        case "g":
            let numbers = (attributes["transform"] ?? "").matches(of: #/[-0-9.]+/#).compactMap { Double($0.0) }
            origin = (numbers[0], numbers[1])
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) { content += text }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        switch name {
        case "text":
            let position = (x: Double(attributes["x"]!)! + origin.x, y: Double(attributes["y"]!)! + origin.y)
            let length = 0.6 * 12 * Double(content.count)
            let left =
                switch anchors[attributes["class"]!] {
                case "start": position.x
                case "end": position.x - length
                default: position.x - length / 2
                }
            texts.append(Text(content: content, baseline: position.y, span: left...(left + length)))
        case "g": origin = (0, 0)
        default: break
        }
    }
}
