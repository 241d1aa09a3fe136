public import Dispatch

extension DispatchSource {
    /// A source for old code to add numbers to, and the sums for new code to iterate over. Numbers that are added
    /// while nobody waits become one sum.
    ///
    /// ```swift
    /// let (source, sums) = DispatchSource.userDataAddEvents()
    /// reader.onChunk = { source.add(data: UInt($0.count)) }
    /// for await bytes in sums { progress.completedUnitCount += Int64(bytes) }
    /// ```
    ///
    /// The source is cancelled when the iteration ends. What is added to it then goes nowhere.
    public static func userDataAddEvents() -> (
        source: any DispatchSourceUserDataAdd, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataAddSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// A source for old code to set bits in, and the bits for new code to iterate over. Bits that are set while
    /// nobody waits come together. Otherwise as `userDataAddEvents()`.
    public static func userDataOrEvents() -> (source: any DispatchSourceUserDataOr, events: DispatchSourceEvents<UInt>)
    {
        let source = makeUserDataOrSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }

    /// A source for old code to put numbers into, and the latest ones for new code to iterate over. Of numbers that
    /// are put in while nobody waits, the last one comes. Otherwise as `userDataAddEvents()`.
    public static func userDataReplaceEvents() -> (
        source: any DispatchSourceUserDataReplace, events: DispatchSourceEvents<UInt>
    ) {
        let source = makeUserDataReplaceSource(queue: bridgeQueue)
        return (source, DispatchSourceEvents(SourceSubscription(source) { $0 }))
    }
}
