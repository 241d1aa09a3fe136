/// The state of a sequence of Dispatch events: the waiting tasks, and whether the source is resumed.
///
/// The source is resumed only while a task waits. Dispatch merges all other events into one. At most one event is held
/// here: one that occurred before the first wait.
struct SourceState<Element, Waiter> {
    /// A change of the source for the caller to perform.
    enum Command {
        case resume, suspend
    }

    private(set) var isFinished = false
    private(set) var isResumed: Bool
    /// The waiters for one event each, in the order of arrival.
    private var waiters: [Waiter] = []
    private var held: Element?

    /// - Parameter isResumed: Whether the source is resumed at first.
    init(isResumed: Bool) {
        self.isResumed = isResumed
    }

    /// The outcome of a wait.
    enum Wait {
        /// The waiter is kept until there is an event.
        case waits(Command?)
        /// There is an event already; nil if there will be none.
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

    /// Accepts an event. Returns the waiter that receives it.
    mutating func fire(_ event: Element) -> (Waiter?, Command?) {
        if isFinished { return (nil, nil) }
        let receiver = waiters.isEmpty ? nil : waiters.removeFirst()
        if receiver == nil { held = event }
        if !waiters.isEmpty || !isResumed { return (receiver, nil) }
        isResumed = false
        return (receiver, .suspend)
    }

    /// Ends the sequence. A held event is still delivered. Returns the waiters, which get no event. A suspended source
    /// must be resumed, because Dispatch does not release suspended sources.
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
