public import Dispatch

extension DispatchSource {
    /// Returns a source for old code and a sequence for new code. Old code adds numbers to the source. The sequence
    /// delivers their sums. Numbers that are added while no task waits become one sum.
    ///
    /// ```swift
    /// let (source, sums) = DispatchSource.userDataAddEvents()
    /// reader.onChunk = { source.add(data: UInt($0.count)) }
    /// for await bytes in sums { progress.completedUnitCount += Int64(bytes) }
    /// ```
    ///
    /// The end of the iteration cancels the source. Numbers that are added later are ignored.
    public static func userDataAddEvents() -> (
        source: any DispatchSourceUserDataAdd, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataAddSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// Returns a source for old code and a sequence for new code. Old code sets bits in the source. The sequence
    /// delivers the bits. Bits that are set while no task waits become one event.
    ///
    /// The end of the iteration cancels the source. Bits that are set later are ignored.
    public static func userDataOrEvents() -> (source: any DispatchSourceUserDataOr, events: DispatchSourceEvents<UInt>)
    {
        let source = makeUserDataOrSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// Returns a source for old code and a sequence for new code. Old code sends numbers to the source. The sequence
    /// delivers the numbers. Of several numbers that are sent while no task waits, only the last one is delivered.
    ///
    /// The end of the iteration cancels the source. Numbers that are sent later are ignored.
    public static func userDataReplaceEvents() -> (
        source: any DispatchSourceUserDataReplace, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataReplaceSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }
}
