import Testing

extension ExitTest.Result? {
    /// The error output of the process.
    var errorText: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
