import Testing

extension ExitTest.Result? {
    /// What the process wrote before it stopped.
    var errorText: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
