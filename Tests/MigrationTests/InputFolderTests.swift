import MigrationExamplesSupport
import TestSupport
import Testing

@Suite("The folder that recipes work on", .inTurns)
struct InputFolderTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test("Files come in the order of the bytes of their paths, from all folders below")
    func order() throws {
        for name in ["b", "a/z", "a", "B", "a.txt", "ä"].map({ "\($0)/file" }) { try temporary.write("", to: name) }
        let folder = try InputFolder(listing: temporary.path)
        #expect(folder.files.map(\.name) == ["B/file", "a.txt/file", "a/file", "a/z/file", "b/file", "ä/file"])
        #expect(folder.problems.isEmpty)
    }

    @Test("An unreadable entry is a problem of one line, and the others are listed")
    func unreadableEntries() throws {
        try temporary.write("text", to: "file")
        let unreadable = try temporary.makeUnreadableEntries()
        let folder = try InputFolder(listing: temporary.path)
        #expect(folder.files.map(\.name) == ["file"])
        #expect(folder.problems.map(\.path) == unreadable)
        #expect(
            folder.problems.map(\.reason) == [
                "it is a link that leads nowhere", "too many levels of symbolic links",
                "too many levels of symbolic links", "it is a pipe, not a file",
            ])
    }

    @Test("A link to a file is followed, a link to a folder is not")
    func links() throws {
        try temporary.write("text", to: "folder/file")
        try temporary.link("link to file", to: "folder/file")
        try temporary.link("folder/link to folder", to: "..")
        let folder = try InputFolder(listing: temporary.path)
        #expect(folder.files.map(\.name) == ["folder/file", "link to file"])
        #expect(folder.size == 8)
    }

    @Test("The folder itself may be a link, and end with a slash")
    func linkAsRoot() throws {
        try temporary.write("text", to: "folder/file")
        try temporary.link("link", to: "folder")
        #expect(try InputFolder(listing: temporary / "link").files.map(\.name) == ["file"])
        #expect(try InputFolder(listing: temporary / "folder//").files.map(\.name) == ["file"])
    }

    @Test("Names are read as bytes, and shown in one line")
    func oddNames() throws {
        try temporary.write("1", to: "line\nend \u{1B}[31m")
        try temporary.write("2", to: " \"quoted\" ")
        let folder = try InputFolder(listing: temporary.path)
        #expect(folder.files.map(\.name) == [" \"quoted\" ", #"line\x0aend \x1b[31m"#])
        #expect(try folder.files.map { try $0.contents() } == [Array("2".utf8), Array("1".utf8)])
    }

    @Test("A folder that is not there, or is a file, is an error that names it", arguments: ["missing", "file"])
    func noFolder(name: String) throws {
        try temporary.write("text", to: "file")
        let problem = try #require(throws: FileProblem.self) { try InputFolder(listing: temporary / name) }
        let reason = name == "file" ? "not a directory" : "no such file or directory"
        #expect(problem.description == "cannot read \(temporary / name): \(reason)")
    }

    @Test("A file that became a pipe after the listing is not waited for")
    func replacedByPipe() throws {
        try temporary.write("text", to: "file")
        let file = try #require(InputFolder(listing: temporary.path).files.first)
        try temporary.remove("file")
        try temporary.makePipe("file")
        let problem = try #require(throws: FileProblem.self) { try file.contents() }
        #expect(problem.reason == "it is a pipe, not a file")
    }

    @Test("A file that has grown since the listing is read up to its earlier length")
    func grownFile() throws {
        try temporary.write("text", to: "file")
        let folder = try InputFolder(listing: temporary.path)
        #expect(!folder.hasChanged)
        try temporary.write("text and more", to: "file")
        #expect(try folder.files[0].contents() == Array("text".utf8))
        #expect(folder.hasChanged)
    }

    @Test("Reading continues at the last position, up to the end")
    func reading() throws {
        try temporary.write("0123456789", to: "file")
        let reader = try InputFolder(listing: temporary.path).files[0].open()
        let pieces = try (0..<4).map { _ in String(decoding: try reader.read(upTo: 4), as: UTF8.self) }
        #expect(pieces == ["0123", "4567", "89", ""])
    }

    @Test("Listing ends where its task is cancelled")
    func cancelledListing() async throws {
        try temporary.write("text", to: "file")
        let path = temporary.path
        let listing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try InputFolder(listing: path)
        }
        await #expect(throws: CancellationError.self) { try await listing.value }
    }
}
