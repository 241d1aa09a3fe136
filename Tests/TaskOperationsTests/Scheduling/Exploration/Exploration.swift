/// A value from which every possible future can be explored.
protocol Explorable {
    associatedtype Event: Sendable
    /// Equal for two states if and only if the same futures can follow from both.
    associatedtype Key: Hashable

    var key: Key { get }

    /// The events that are possible now.
    var events: [Event] { get }

    mutating func apply(_ event: Event)

    /// Whether an event is certain to happen, in contrast to events that may or may not happen.
    func isProgress(_ event: Event) -> Bool

    /// Whether the program is complete.
    var isEnd: Bool { get }

    /// Descriptions of the rules that the state violates.
    var violations: [String] { get }
}

/// Explores every state that any order of events can reach from the first state. The search is breadth-first, so it
/// finds each violation at the end of a shortest path.
struct Exploration<State: Explorable> {
    /// A state that violates a rule, and the path of events to it.
    struct Failure: Error, CustomStringConvertible {
        let violations: [String]
        let path: [State.Event]

        var description: String {
            (violations + ["after"] + path.map { "  \($0)" }).joined(separator: "\n")
        }
    }

    private(set) var transitions = 0
    private(set) var ends = 0
    private var numbers: [State.Key: Int32] = [:]
    /// The state and the event from which each state was first reached.
    private var origins: [(state: Int32, event: State.Event)?] = []
    private var progress: [(from: Int32, to: Int32)] = []
    private var endNumbers: [Int32] = []

    var states: Int { origins.count }

    /// Explores all reachable states.
    ///
    /// - Throws: `Failure` if a state violates a rule, or if progress alone cannot reach the end from it.
    init(from first: State) throws(Failure) {
        var frontier = [(number: try enter(first, from: nil).number, state: first)]
        while !frontier.isEmpty {
            var next: [(number: Int32, state: State)] = []
            for (number, state) in frontier {
                for event in state.events {
                    var successor = state
                    successor.apply(event)
                    let (reached, isNew) = try enter(successor, from: (number, event))
                    transitions += 1
                    if state.isProgress(event) { progress.append((number, reached)) }
                    if isNew { next.append((reached, successor)) }
                }
            }
            frontier = next
        }
        try checkEveryStateReachesAnEnd()
    }

    private mutating func enter(
        _ state: State, from origin: (state: Int32, event: State.Event)?
    ) throws(Failure) -> (number: Int32, isNew: Bool) {
        // Before the key: a known state may be stored in a faulty way when it is reached on another path.
        let violations = state.violations
        if !violations.isEmpty { throw Failure(violations: violations, path: path(through: origin)) }
        let key = state.key
        if let known = numbers[key] { return (known, false) }
        let number = Int32(origins.count)
        numbers[key] = number
        origins.append(origin)
        if state.isEnd { endNumbers.append(number) }
        return (number, true)
    }

    private mutating func checkEveryStateReachesAnEnd() throws(Failure) {
        ends = endNumbers.count
        var before = [[Int32]](repeating: [], count: states)
        for edge in progress { before[Int(edge.to)].append(edge.from) }
        var reachesEnd = [Bool](repeating: false, count: states)
        var unexplored = endNumbers
        for number in endNumbers { reachesEnd[Int(number)] = true }
        while let number = unexplored.popLast() {
            for origin in before[Int(number)] where !reachesEnd[Int(origin)] {
                reachesEnd[Int(origin)] = true
                unexplored.append(origin)
            }
        }
        guard let stuck = reachesEnd.firstIndex(of: false) else { return }
        throw Failure(violations: ["the end cannot be reached"], path: path(through: origins[stuck]))
    }

    private func path(through last: (state: Int32, event: State.Event)?) -> [State.Event] {
        var path: [State.Event] = []
        var step = last
        while let origin = step {
            path.append(origin.event)
            step = origins[Int(origin.state)]
        }
        return path.reversed()
    }
}
