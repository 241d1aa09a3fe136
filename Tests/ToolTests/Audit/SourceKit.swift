import Foundation

@testable import SourceAudit

/// The toolchain's own tokens. Its sourcekitd library is loaded into this process at run time.
struct SourceKit {
    /// A token of a source, as a range of bytes.
    struct Piece {
        let kind: Substring
        let range: Range<Int>
    }

    private typealias Begin = @convention(c) () -> Void
    private typealias Parse = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Send = @convention(c) (OpaquePointer) -> OpaquePointer?
    private typealias Describe = @convention(c) (OpaquePointer) -> UnsafeMutablePointer<CChar>?
    private typealias Dispose = @convention(c) (OpaquePointer) -> Void

    private let parse: Parse
    private let send: Send
    private let describe: Describe
    private let disposeRequest: Dispose
    private let disposeResponse: Dispose

    /// Loads the library; nil if the toolchain has none.
    init?() {
        let names = ["libsourcekitdInProc.so", "sourcekitdInProc.framework/sourcekitdInProc"]
        guard let path = Toolchain.library(names), let library = dlopen(path, RTLD_NOW) else { return nil }
        func function<Function>(_ name: String, _: Function.Type) -> Function? {
            // The header of the library declares the functions with these types.
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let begin = function("sourcekitd_initialize", Begin.self),
            let parse = function("sourcekitd_request_create_from_yaml", Parse.self),
            let send = function("sourcekitd_send_request_sync", Send.self),
            let describe = function("sourcekitd_response_description_copy", Describe.self),
            let disposeRequest = function("sourcekitd_request_release", Dispose.self),
            let disposeResponse = function("sourcekitd_response_dispose", Dispose.self)
        else { return nil }
        (self.parse, self.send, self.describe) = (parse, send, describe)
        (self.disposeRequest, self.disposeResponse) = (disposeRequest, disposeResponse)
        keepingSignalHandlers(begin)
    }

    /// Returns the tokens of a source in order. They include comments, but not punctuation.
    func pieces(of path: String) -> [Piece] {
        let open = """
            {key.request: source.request.editor.open, key.name: "\(path)", key.sourcefile: "\(path)", \
            key.enablesyntaxmap: 1, key.enablesubstructure: 0, key.enablediagnostics: 0, key.syntactic_only: 1}
            """
        let response = answer(to: open)
        _ = answer(to: "{key.request: source.request.editor.close, key.name: \"\(path)\"}")
        return Self.pieces(in: response)
    }

    private func answer(to text: String) -> String {
        guard let request = parse(text, nil) else { return "" }
        defer { disposeRequest(request) }
        guard let response = send(request) else { return "" }
        defer { disposeResponse(response) }
        guard let description = describe(response) else { return "" }
        defer { free(description) }
        return String(cString: description)
    }

    /// The response has one member per line: kind, offset and length of each token.
    private static func pieces(in response: String) -> [Piece] {
        var pieces: [Piece] = []
        var kind: Substring = ""
        var offset = 0
        for line in response.split(separator: "\n") {
            let member = line.drop { $0 == " " }
            func value(_ name: String) -> Substring? {
                guard member.hasPrefix(name) else { return nil }
                return member.dropFirst(name.count).prefix { $0 != "," }
            }
            if let value = value("key.kind: source.lang.swift.syntaxtype.") {
                kind = value
            } else if let value = value("key.offset: ") {
                offset = Int(value) ?? 0
            } else if let value = value("key.length: "), !kind.isEmpty {
                pieces.append(Piece(kind: kind, range: offset..<offset + (Int(value) ?? 0)))
                kind = ""
            }
        }
        return pieces
    }
}

/// The library replaces the handlers of fatal signals. The report of a crash of any test would then show the library's
/// handler instead of the crash.
private func keepingSignalHandlers(_ body: () -> Void) {
    let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP]
    let actions = signals.map { number in
        var action = sigaction()
        sigaction(number, nil, &action)
        return action
    }
    body()
    for (number, var action) in zip(signals, actions) { sigaction(number, &action, nil) }
}
