public import Dispatch

extension DispatchSource {
    /// A source for old code to add numbers to, and the sums for new code to iterate over. Numbers that are added while
    /// no task waits become one sum.
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

    /// A source for old code to set bits in, and the bits for new code to iterate over. Bits that are set while no task
    /// waits become one event. Otherwise like `userDataAddEvents()`.
    public static func userDataOrEvents() -> (source: any DispatchSourceUserDataOr, events: DispatchSourceEvents<UInt>)
    {
        let source = makeUserDataOrSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// A source for old code to put numbers into, and the latest ones for new code to iterate over. Of the numbers that
    /// are put in while no task waits, only the last one is delivered. Otherwise like `userDataAddEvents()`.
    public static func userDataReplaceEvents() -> (
        source: any DispatchSourceUserDataReplace, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataReplaceSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }
}
