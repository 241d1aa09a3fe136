import TestSupport
import Testing

@testable import tour

@Suite("The arguments of the tour", .inTurns)
struct ArgumentsTests {
    private func parse(_ arguments: String...) throws(UsageError) -> Arguments {
        try Arguments(parsing: arguments, known: ["one", "two"])
    }

    @Test("Nothing given means every recipe over the sources")
    func nothing() throws {
        #expect(try parse() == .run(folder: nil, recipes: [], asJSON: false, pictures: .init()))
    }

    @Test("Options and the folder come in any order")
    func anyOrder() throws {
        let expected = Arguments.run(folder: "folder", recipes: ["two", "one"], asJSON: true, pictures: .init())
        #expect(try parse("folder", "--json", "--recipe", "two", "--recipe=one") == expected)
        #expect(try parse("--recipe=two", "--json", "folder", "--recipe", "one") == expected)
    }

    @Test("After -- everything is a folder")
    func endOfOptions() throws {
        #expect(try parse("--", "--json") == .run(folder: "--json", recipes: [], asJSON: false, pictures: .init()))
    }

    @Test("Files for a trace and a timeline, and a trace to explain")
    func pictures() throws {
        let pictures = Arguments.Pictures(trace: "a.trace", timeline: "b.svg")
        #expect(
            try parse("--trace", "a.trace", "--timeline", "b.svg")
                == .run(folder: nil, recipes: [], asJSON: false, pictures: pictures))
        #expect(try parse("explain", "a.trace") == .explain(trace: "a.trace"))
        #expect(try parse("watch", "a.trace") == .watch(trace: "a.trace", once: false, html: nil, perfetto: nil))
        #expect(
            try parse("watch", "--once", "--html", "a.html", "a.trace", "--perfetto", "a.json")
                == .watch(trace: "a.trace", once: true, html: "a.html", perfetto: "a.json"))
        #expect(try parse("--", "explain") == .run(folder: "explain", recipes: [], asJSON: false, pictures: .init()))
    }

    @Test("Help and the list are asked for by name")
    func others() throws {
        #expect(try parse("--list") == .list)
        #expect(try parse("--help") == .help)
        #expect(try parse("folder", "-h") == .help)
    }

    @Test(
        "What makes no sense is an error that says why",
        arguments: [
            (["--fast"], #"unknown option "--fast""#),
            (["-"], #"unknown option "-""#),
            (["a", "b"], #"more than one folder: "b""#),
            (["--recipe"], "--recipe needs a name"),
            (["--recipe", "three"], #"no recipe "three"; there are one, two"#),
            (["--recipe="], #"no recipe ""; there are one, two"#),
            (["--list", "--json"], "--list stands alone"),
            (["--list", "--trace", "a"], "--list stands alone"),
            (["--trace"], "--trace needs a file"),
            (["explain"], "explain needs one file"),
            (["watch"], "watch needs one file"),
            (["watch", "a", "b"], #"watch needs one file, and no "b""#),
            (["watch", "a", "--html"], "--html needs a file"),
            (["explain", "a", "b"], "explain needs one file"),
        ])
    func errors(arguments: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Arguments(parsing: arguments, known: ["one", "two"]) }
        #expect(error?.description == message)
    }
}
