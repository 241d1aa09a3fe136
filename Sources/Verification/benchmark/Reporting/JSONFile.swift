/// Writes the figures to a file as an array, one by one. A regular file contains a complete array at any time.
struct JSONFile {
    private static let end = "\n]\n"

    private let file: OutputFile
    private var isEmpty = true

    var isStandardOutput: Bool { file.isStandardOutput }

    init(at path: String) throws {
        file = try OutputFile(at: path)
        try write("[")
    }

    mutating func add(_ figures: [Figure]) throws {
        let rows = try figures.map { try JSON.text($0) }
        if rows.isEmpty { return }
        if file.isSeekable { try file.goBack(Self.end.utf8.count) }
        try write((isEmpty ? "\n" : ",\n") + rows.joined(separator: ",\n"))
        isEmpty = false
    }

    func finish() throws {
        if !file.isSeekable { try file.write(Self.end) }
    }

    private func write(_ text: String) throws {
        try file.write(file.isSeekable ? text + Self.end : text)
    }
}
