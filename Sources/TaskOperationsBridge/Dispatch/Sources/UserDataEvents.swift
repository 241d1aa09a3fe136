public import Dispatch

extension DispatchSource {
    /// Returns a source to which old code adds numbers, and a sequence of their sums for new code. Numbers that are
    /// added while no task waits become one sum.
    ///
    /// ```swift
    /// let (source, sums) = DispatchSource.userDataAddEvents()
    /// reader.onChunk = { source.add(data: UInt($0.count)) }
    /// for await bytes in sums { progress.completedUnitCount += Int64(bytes) }
    /// ```
    ///
    /// The source is cancelled when the iteration ends. Numbers that are added later are ignored.
    public static func userDataAddEvents() -> (
        source: any DispatchSourceUserDataAdd, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataAddSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// Returns a source in which old code sets bits, and a sequence of these bits for new code. Bits that are set while
    /// no task waits become one event. Otherwise like `userDataAddEvents()`.
    public static func userDataOrEvents() -> (source: any DispatchSourceUserDataOr, events: DispatchSourceEvents<UInt>)
    {
        let source = makeUserDataOrSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// Returns a source to which old code sends numbers, and a sequence of the latest numbers for new code. Of the
    /// numbers that are sent while no task waits, only the last one is delivered. Otherwise like `userDataAddEvents()`.
    public static func userDataReplaceEvents() -> (
        source: any DispatchSourceUserDataReplace, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataReplaceSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }
}
