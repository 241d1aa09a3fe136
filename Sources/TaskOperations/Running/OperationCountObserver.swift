/// Learns how many operations a queue has taken and how many of them have not ended.
package protocol OperationCountObserver: AnyObject, Sendable {
    /// The counts changed. Calls may overtake each other: what counts is the largest `added`, and the most that
    /// have ended.
    func countsChanged(added: Int, unfinished: Int)
}
