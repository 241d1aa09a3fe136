extension AnyTaskOperation {
    /// How many permits of its queue the body takes while it executes, 1 unless it is set: from 1 to 32,767.
    ///
    /// One that takes more than the queue has runs alone. Nothing of the same or a lower priority overtakes one that waits
    /// for permits, so that it does not wait for ever. To be set before the operation is added; later it stops the process
    /// with a message, and so does a number out of range.
    public var weight: Int {
        get { record.withLock { Int($0.weight) } }
        set {
            require(
                (1...Self.highestWeight).contains(newValue),
                "weight is \(newValue); it must be from 1 to \(Self.highestWeight).")
            let isSet = record.withLock { record in
                if record.wasSubmitted || record.phase != .created { return false }
                record.weight = UInt16(newValue)
                return true
            }
            require(isSet, "the weight of \(OperationLabel(self)) is set too late. Set it before adding the operation.")
        }
    }

    private static var highestWeight: Int { Int(Int16.max) }
}
