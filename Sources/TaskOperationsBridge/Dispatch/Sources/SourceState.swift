/// The state of a sequence of Dispatch events.
///
/// After the first wait, the source is resumed only while a task waits. While the source is suspended, Dispatch merges
/// its events into one. An event that occurs before the first wait is held here.
struct SourceState<Element, Waiter> {
    /// A change of the source. The caller must perform it.
    enum Command {
        case resume, suspend
    }

    private(set) var isFinished = false
    private(set) var isResumed: Bool
    /// The waiters in the order of arrival. Each waits for one event.
    private var waiters: [Waiter] = []
    private var held: Element?

    /// - Parameter isResumed: Whether the source is resumed before the first wait.
    init(isResumed: Bool) {
        self.isResumed = isResumed
    }

    /// The outcome of a wait.
    enum Wait {
        /// The waiter is kept until an event occurs.
        case waits(Command?)
        /// The held event; nil if the sequence has ended.
        case has(Element?)
    }

    mutating func wait(_ waiter: Waiter) -> Wait {
        if let event = held.take() { return .has(event) }
        if isFinished { return .has(nil) }
        waiters.append(waiter)
        if isResumed { return .waits(nil) }
        isResumed = true
        return .waits(.resume)
    }

    /// Accepts an event, and returns the waiter that receives the event.
    mutating func fire(_ event: Element) -> (Waiter?, Command?) {
        if isFinished { return (nil, nil) }
        let receiver = waiters.isEmpty ? nil : waiters.removeFirst()
        if receiver == nil { held = event }
        if !waiters.isEmpty || !isResumed { return (receiver, nil) }
        isResumed = false
        return (receiver, .suspend)
    }

    /// Ends the sequence. Returns the waiters, which receive nil. A held event is still delivered later. A suspended
    /// source must be resumed, because Dispatch does not release suspended sources.
    mutating func finish() -> ([Waiter], Command?) {
        if isFinished { return ([], nil) }
        isFinished = true
        defer {
            waiters = []
            isResumed = true
        }
        return (waiters, isResumed ? nil : .resume)
    }
}

extension SourceState.Command: Sendable {}
extension SourceState.Wait: Sendable where Element: Sendable {}
extension SourceState: Sendable where Element: Sendable, Waiter: Sendable {}
