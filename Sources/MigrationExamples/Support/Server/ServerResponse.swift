import Foundation

/// A response of the server: its first bytes, and the remaining part of a file.
struct ServerResponse {
    let head: [UInt8]
    let body: FileBody?

    /// Returns a response with the beginning of a file, up to a limit, or with the reason why the file cannot be read.
    static func of(_ file: InputFile, upTo limit: Int) -> ServerResponse {
        do {
            let body = FileBody(try file.open(), of: file, length: min(file.size, limit))
            let first = try body.next()  // fails if the file cannot be read
            return ServerResponse(
                head: Self.head(200, "application/octet-stream", length: body.length) + first, body: body)
        } catch let problem as FileProblem {
            return .message(500, problem.reason)
        } catch {
            return .message(500, "\(error)")
        }
    }

    /// Returns a response with one line of text.
    static func message(_ status: Int, _ text: String) -> ServerResponse {
        let bytes = Array(text.utf8)
        return ServerResponse(head: head(status, "text/plain; charset=utf-8", length: bytes.count) + bytes, body: nil)
    }

    private static func head(_ status: Int, _ type: String, length: Int) -> [UInt8] {
        let fields = ["Content-Type: \(type)", "Content-Length: \(length)", "Connection: close"]
        let allowed = status == 405 ? ["Allow: GET"] : []
        let lines = ["HTTP/1.1 \(status) \(reason(of: status))"] + fields + allowed + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    private static func reason(of status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 413: "Content Too Large"
        case 431: "Request Header Fields Too Large"
        case 505: "HTTP Version Not Supported"
        default: "Internal Server Error"
        }
    }
}

/// The remaining part of a file, which is read and sent piece by piece.
final class FileBody {
    let length: Int
    private let reader: FileReader
    private let path: PathBytes
    private var left: Int

    init(_ reader: FileReader, of file: InputFile, length: Int) {
        self.reader = reader
        path = file.path
        self.length = length
        left = length
    }

    var isAtEnd: Bool { left == 0 }

    /// Returns the next piece; an empty one at the end.
    ///
    ///
    /// - Throws: `FileProblem` if the file cannot be read or became shorter.
    func next() throws -> [UInt8] {
        if isAtEnd { return [] }
        let piece = try reader.read(upTo: min(left, 16 * 1024))
        if piece.isEmpty { throw FileProblem(path, "it became shorter") }
        left -= piece.count
        return piece
    }
}
