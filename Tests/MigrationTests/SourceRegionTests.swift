import MigrationExamplesSupport
import TestSupport
import Testing

@Suite("Regions of source files", .inTurns)
struct SourceRegionTests {
    @Test("A region is the text between its comments, without the shared indentation")
    func regions() throws {
        let source = """
            import Foundation
            func f() {
                // region: first
                if true {

                    print("1")
                }
                // endregion
            }
            // region: second
            // endregion
            """
        let regions = try SourceRegion.regions(in: source)
        #expect(regions.map(\.name) == ["first", "second"])
        #expect(regions.map(\.code) == ["if true {\n\n    print(\"1\")\n}", ""])
    }

    @Test(
        "Comments that do not fit together are an error that says where",
        arguments: [
            ("// region: a\n// region: b", SourceRegion.Fault.opensWithinAnother(line: 2)),
            ("// region:", .hasNoName(line: 1)),
            ("// region: a\n// endregion\n// region: a", .nameOccursTwice("a", line: 3)),
            ("\n// endregion", .closesNone(line: 2)),
            ("// region: a", .isNotClosed("a")),
        ])
    func faults(source: String, fault: SourceRegion.Fault) {
        #expect(throws: fault) { try SourceRegion.regions(in: source) }
    }
}
