import Foundation
import SourceAudit
import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: files", .inTurns)
struct OutputFileTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("A file is emptied when it is opened")
    func emptied() throws {
        try "old and long".write(toFile: folder / "file", atomically: false, encoding: .utf8)
        try OutputFile(at: folder / "file").write("new")
        #expect(try folder.text(of: "file") == "new")
    }

    @Test("A link remains a link, and its target is written, even if it did not exist")
    func link() throws {
        try FileManager.default.createSymbolicLink(atPath: folder / "link", withDestinationPath: folder / "target")
        for text in ["first", "second"] {
            try OutputFile(at: folder / "link").write(text)
            #expect(try folder.text(of: "target") == text)
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder / "link") == folder / "target")
    }

    @Test("A file that cannot be opened is named in the error")
    func folderInPlaceOfFile() {
        let path = folder / "missing/file"
        let error = #expect(throws: WriteError.self) { try OutputFile(at: path) }
        #expect(error?.description == "cannot write \(path): No such file or directory")
    }

    #if os(Linux)
        @Test("A full device is an error")
        func fullDevice() throws {
            let error = #expect(throws: WriteError.self) { try OutputFile(at: "/dev/full").write("text") }
            #expect(error?.description == "cannot write /dev/full: No space left on device")
            #expect(throws: WriteError.self) { try JSONFile(at: "/dev/full") }
        }
    #endif

    @Test("In a regular file the array of figures is whole after each case")
    func wholeArray() throws {
        var file = try JSONFile(at: folder / "file")
        #expect(try count() == 0)
        for number in 1...3 {
            try file.add([.example, .example])
            #expect(try count() == 2 * number)
        }
        try file.add([])
        try file.finish()
        #expect(try count() == 6)
    }

    @Test("In a pipe the array of figures arrives case by case, and is complete at the end")
    func pipe() throws {
        try #require(mkfifo(folder / "pipe", 0o600) == 0)
        let pipe = try #require(FileHandle(forUpdatingAtPath: folder / "pipe"))
        var file = try JSONFile(at: folder / "pipe")
        try file.add([.example])
        #expect(String(decoding: pipe.availableData, as: UTF8.self).hasSuffix("}"))
        try file.add([.example])
        try file.finish()
        let rest = String(decoding: pipe.availableData, as: UTF8.self)
        #expect(rest.hasPrefix(",\n{"))
        #expect(rest.hasSuffix("}\n]\n"))
    }

    private func count() throws -> Int? {
        (try JSONSerialization.jsonObject(with: Data(folder.text(of: "file").utf8)) as? [Any])?.count
    }
}

extension Figure {
    fileprivate static let example = Figure(
        caseName: "chain", variant: nil, subject: .task, size: 10, rounds: 5, nsPerOperation: Spread([5]),
        bytesPerOperation: nil, threads: nil)
}
