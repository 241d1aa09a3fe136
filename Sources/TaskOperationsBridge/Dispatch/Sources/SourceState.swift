/// What a sequence of Dispatch events knows: who waits, and whether its source is resumed.
///
/// The source is resumed only while somebody waits, so that whatever happens otherwise stays with Dispatch, which
/// merges it into one event. At most one event is held here: one that came before the first wait.
struct SourceState<Element, Waiter> {
    /// What is to be done with the source.
    enum Command {
        case resume, suspend
    }

    private(set) var isFinished = false
    private(set) var isResumed: Bool
    /// Those who wait for an event each, in the order of arrival.
    private var waiters: [Waiter] = []
    private var held: Element?

    /// - Parameter isResumed: Whether the source is resumed at first.
    init(isResumed: Bool) {
        self.isResumed = isResumed
    }

    /// What comes of a wait.
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

    /// There is an event. Returns who gets it.
    mutating func fire(_ event: Element) -> (Waiter?, Command?) {
        if isFinished { return (nil, nil) }
        let receiver = waiters.isEmpty ? nil : waiters.removeFirst()
        if receiver == nil { held = event }
        if !waiters.isEmpty || !isResumed { return (receiver, nil) }
        isResumed = false
        return (receiver, .suspend)
    }

    /// There will be no further event; one that is held is still handed out. Returns who gets none. The source is to
    /// be resumed where it is not: Dispatch does not get rid of a suspended one.
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
