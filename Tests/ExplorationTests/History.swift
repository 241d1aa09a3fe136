@testable import Simulation
@testable import TaskOperations

/// The calls of threads and the actions of bodies, with their times.
///
/// A program is linearizable if there is one order of all calls and actions in which the model does the same. In that
/// order, each call is between its invocation and its return, a body begins before its beginning is recorded, and it
/// ends after its end is recorded (M. Herlihy and J. Wing, "Linearizability", TOPLAS 12, 1990).
struct History {
    /// The source of events. The events of one place have a fixed order.
    enum Place: Hashable {
        case main
        case thread(Int)
        case body(Int)
        /// A separate task. Each of its calls has a place of its own.
        case task
        case input(Int)
        case call(Int)
    }

    private enum Event: CustomStringConvertible {
        case call(Call, Refusal?)
        case begin(Int)
        case end(Int, Model.Outcome)
        case check(Int, isCancelled: Bool)
        case endWithoutInput(Int, Model.Outcome)
        case quiet

        var description: String {
            switch self {
            case .call(let call, let refusal): "\(call)" + (refusal.map { " refused: \($0)" } ?? "")
            case .begin(let number): "body of \(number) begins"
            case .end(let number, let outcome): "body of \(number) ends: \(outcome)"
            case .check(let number, let isCancelled): "\(number) is cancelled: \(isCancelled)"
            case .endWithoutInput(let number, let outcome): "\(number) ends without its input: \(outcome)"
            case .quiet: "no thread can run"
            }
        }
    }

    private struct Entry {
        let event: Event
        let invoked: Int
        let returned: Int

        /// Whether the call was refused because another call was adding the same operation.
        ///
        ///
        /// An operation belongs to a call from the beginning of the call, before the operation is in a queue. The
        /// refused call cannot wait for the other one: an addition may wait for room, and two calls may each have an
        /// operation that the other one adds, too. The refusal may therefore come before the effect of the other call,
        /// or the other call may also be refused. No order of the calls explains such a refusal. `addOperation`
        /// documents it.
        func isRefused(during others: some Sequence<Entry>) -> Bool {
            guard case .call(let call, .alreadyAdded?) = event else { return false }
            return others.contains { other in
                guard case .call(let otherCall, _) = other.event, other.invoked != invoked else { return false }
                return !call.added.isDisjoint(with: otherCall.added) && other.invoked < returned
                    && invoked < other.returned
            }
        }

        /// Whether the event removes an operation's dependency on its input.
        ///
        /// The body checks for the input after the start, so the input may end between the start and the check. In the
        /// model, the start and the check are one step.
        func removesInput(in program: Program) -> Bool {
            guard case .call(.undepend(let number, let input), nil) = event else { return false }
            return program.operations[number].input == input
        }
    }

    private var time = 0
    private var entries: [Place: [Entry]] = [:]
    private var places: [Place] = []
    /// Whether an event occurred that the search for an order does not support.
    private var isIncomplete = false

    mutating func invoke() -> Int {
        time += 1
        return time
    }

    mutating func record(_ call: Call, _ error: TaskOperationError?, from invoked: Int, on place: Place) {
        let returned = invoke()
        if let error, Refusal(error) == nil { isIncomplete = true }
        let place = place == .task ? .call(returned) : place
        add(Entry(event: .call(call, error.flatMap { Refusal($0) }), invoked: invoked, returned: returned), place)
    }

    /// Records that no thread except the main one can run.
    mutating func noteQuiet() {
        let now = invoke()
        add(Entry(event: .quiet, invoked: now, returned: now), .main)
    }

    mutating func begin(_ number: Int) {
        add(Entry(event: .begin(number), invoked: 0, returned: invoke()), .body(number))
    }

    mutating func end(_ number: Int, _ error: (any Error)?) {
        let outcome: Model.Outcome = error.map { $0 is CancellationError ? .cancelled : .failure } ?? .value
        add(Entry(event: .end(number, outcome), invoked: invoke(), returned: .max), .body(number))
    }

    mutating func check(_ isCancelled: Bool, on place: Place) {
        guard case .body(let number) = place else { return }
        let now = invoke()
        // The operation is marked as cancelled before its task is.
        add(Entry(event: .check(number, isCancelled: isCancelled), invoked: now, returned: now), place)
    }

    private mutating func add(_ entry: Entry, _ place: Place) {
        if entries[place] == nil { places.append(place) }
        entries[place, default: []].append(entry)
    }
}

extension History: CustomStringConvertible {
    var description: String {
        let lines = places.map { place in
            "\(place): " + entries[place]!.map { "\($0.event) (\($0.invoked)-\($0.returned))" }.joined(separator: ", ")
        }
        return lines.joined(separator: "\n").replacing("Simulation.", with: "").replacing(
            String(Int.max), with: "")
    }
}

// MARK: - The search for an order

extension History {
    /// Returns the reason why no order of the model matches the history. Returns nil if an order matches, or if the
    /// program has steps that the search does not support.
    func difference(from program: Program, _ operations: [TaskOperation<Int>]) -> String? {
        if isIncomplete || !program.isOrderable { return nil }
        if entries.values.joined().contains(where: { $0.removesInput(in: program) }) { return nil }
        var search = OrderSearch(self, program, operations)
        switch search.run() {
        case .found, .gaveUp: return nil
        case .none:
            return "No order explains what happened:\n\(self)\nThe longest one:\n\(search.longest)\n\(program)"
        }
    }

    private struct OrderSearch {
        enum Result {
            case found
            case gaveUp
            case none
        }

        /// The remaining part of a call that cancels all operations of a queue. It cancels them one after another, each
        /// under a separate lock, so other threads may make calls in between.
        private struct Cancellation {
            let queue: Int
            var unstarted: [Int]
            var executing: [Int] = []

            var isComplete: Bool { unstarted.isEmpty && executing.isEmpty }
        }

        private let sequences: [[Entry]]
        private let outcomes: [Model.Outcome]
        private var model: Model
        private var positions: [Int]
        /// The remaining part of each sequence's current call that cancels all operations; nil for no such call.
        private var cancellations: [Cancellation?]
        private var order: [String] = []
        private var left = 3000
        private(set) var longest = ""
        private var longestCount = -1

        init(_ history: History, _ program: Program, _ operations: [TaskOperation<Int>]) {
            outcomes = operations.map { Model.Outcome(of: $0) }
            let all = history.entries.values.joined()
            var sequences = history.places.map { place in
                history.entries[place]!.filter { !$0.isRefused(during: all) }
            }
            for (number, outcome) in outcomes.enumerated() where outcome == .dependencyFailed || outcome == .notReady {
                sequences.append([Entry(event: .endWithoutInput(number, outcome), invoked: 0, returned: .max)])
            }
            self.sequences = sequences
            positions = sequences.map { _ in 0 }
            cancellations = sequences.map { _ in nil }
            model = Model(program)
            model.tellsDependentsLater = true
        }

        mutating func run() -> Result {
            let next = sequences.indices.filter { positions[$0] < sequences[$0].count }
            if next.isEmpty { return hasOutcomes ? .found : .none }
            // A call that returned before another began precedes it.
            let limit = next.map { sequences[$0][positions[$0]].returned }.min()!
            let possible = next.filter { sequences[$0][positions[$0]].invoked <= limit }
                .sorted { sequences[$0][positions[$0]].returned < sequences[$1][positions[$1]].returned }
                // The search continues calls that have begun first: usually no other call comes between the parts of a
                // call.
                .partitioned { cancellations[$0] != nil }
            for index in possible {
                left -= 1
                if left < 0 { return .gaveUp }
                let (saved, savedCancellation) = (model, cancellations[index])
                let complaints = model.violations.count
                let event = sequences[index][positions[index]].event
                let isComplete = apply(event, of: index)
                let complaint = model.violations.dropFirst(complaints).first
                note(event, complaint)
                if complaint == nil {
                    if isComplete { positions[index] += 1 }
                    order.append(isComplete ? "\(event)" : "\(event), a part")
                    let result = run()
                    if result != .none { return result }
                    order.removeLast()
                    if isComplete { positions[index] -= 1 }
                }
                model = saved
                cancellations[index] = savedCancellation
            }
            return .none
        }

        private mutating func note(_ event: Event, _ complaint: String?) {
            guard order.count >= longestCount, let complaint else { return }
            longestCount = order.count
            longest = (order + ["\(event): \(complaint)"]).joined(separator: "\n")
        }

        private var hasOutcomes: Bool { outcomes.indices.allSatisfy { model.operations[$0].outcome == outcomes[$0] } }

        /// Returns whether the event is complete.
        private mutating func apply(_ event: Event, of sequence: Int) -> Bool {
            if cancellations[sequence] != nil { return continueCancellation(of: sequence) }
            if case .call(let call, _) = event, let queue = call.cancelledQueue {
                if case .shutDown = call { model.shutDown(queue, isCancelling: false) }
                let operations = model.unfinished(in: queue)
                if operations.isEmpty { return true }
                cancellations[sequence] = Cancellation(queue: queue, unstarted: operations)
                return false
            }
            apply(event)
            return true
        }

        /// Cancels the next operation of a call that cancels all. The call first cancels the operations that have not
        /// started; until then, no operation of the queue starts. It then cancels the executing operations.
        private mutating func continueCancellation(of sequence: Int) -> Bool {
            if !cancellations[sequence]!.unstarted.isEmpty {
                let number = cancellations[sequence]!.unstarted.removeFirst()
                if model.operations[number].phase == .executing {
                    cancellations[sequence]!.executing.append(number)
                } else {
                    model.cancel(number)
                }
            } else {
                model.cancel(cancellations[sequence]!.executing.removeFirst())
            }
            if !cancellations[sequence]!.isComplete { return false }
            cancellations[sequence] = nil
            return true
        }

        private mutating func apply(_ event: Event) {
            switch event {
            case .call(let call, let refusal): apply(call, refusal)
            case .begin(let number):
                let queue = model.operations[number].queue
                let isHeld = cancellations.contains { $0.map { $0.queue == queue && !$0.unstarted.isEmpty } ?? false }
                model.check(!isHeld, "\(number) began while all operations of its queue were cancelled")
                model.begin(number, levels: model.operations.map { _ in Int(TaskPriority.medium.rawValue) })
            case .end(let number, let outcome): model.end(number, outcome)
            case .quiet: model.noteQuiet()
            case .check(let number, let isCancelled):
                model.check(model.operations[number].isCancelled || !isCancelled, "\(number) is not cancelled")
            case .endWithoutInput(let number, let outcome):
                model.check(
                    model.lacksInput(number) && model.operations[number].phase == .submitted, "\(number) has its input")
                if model.lacksInput(number) { model.endWithoutInput(number, outcome) }
            }
        }

        private mutating func apply(_ call: Call, _ refusal: Refusal?) {
            switch call {
            case .add(let numbers, let queue):
                if meets(model.adding(numbers, to: queue, isBarrier: false), refusal) {
                    model.add(numbers, to: queue, isBarrier: false)
                }
            case .addBarrier(let number, let queue):
                if meets(model.adding([number], to: queue, isBarrier: true), refusal) {
                    model.add([number], to: queue, isBarrier: true)
                }
            case .cancel(let number): model.cancel(number)
            case .setSuspended(let queue, let isSuspended): model.setSuspended(queue, isSuspended)
            case .setWidth(let queue, let width): model.setWidth(queue, width)
            case .setPendingLimit(let queue, let limit): model.setPendingLimit(queue, limit)
            case .cancelAll, .setCap, .advance, .setLevel: break
            case .depend(let number, _) where model.operations[number].outcome == .queueShutDown:
                // The queue rejected the operation. The operation ends after it leaves the queue, and the addition may
                // return before that.
                break
            case .depend(let number, let other):
                if meets(model.addingDependency(other, to: number), refusal) { model.addDependency(other, to: number) }
            case .undepend(let number, let other):
                if meets(model.removingDependency(of: number), refusal) { model.removeDependency(other, of: number) }
            case .shutDown(let queue, _): model.shutDown(queue, isCancelling: false)
            }
        }

        /// Whether a call was accepted. Records a violation if the model predicts otherwise.
        private func meets(_ prediction: Prediction, _ refusal: Refusal?) -> Bool {
            let isMet =
                switch prediction {
                case .accepted: refusal == nil
                case .refused(let expected): refusal == expected
                case .refusedAny(let expected): refusal.map { expected.contains($0) } == true
                case .perhapsRefused(let expected): refusal == nil || refusal == expected
                }
            model.check(isMet, "the call came to \(refusal.map { "\($0)" } ?? "be accepted"), predicted: \(prediction)")
            return refusal == nil
        }
    }
}

extension Call {
    fileprivate var added: Set<Int> {
        switch self {
        case .add(let numbers, _): Set(numbers)
        case .addBarrier(let number, _): [number]
        default: []
        }
    }
}

extension Call {
    /// The queue whose operations the call cancels; nil for other calls.
    fileprivate var cancelledQueue: Int? {
        switch self {
        case .cancelAll(let queue), .shutDown(let queue, true): queue
        default: nil
        }
    }
}

extension Array {
    /// The elements that satisfy a condition, then the others.
    fileprivate func partitioned(by condition: (Element) -> Bool) -> [Element] {
        filter(condition) + filter { !condition($0) }
    }
}

extension Program {
    /// Whether the history contains all events: no step waits, all operations have the same level, and there are no
    /// policies.
    fileprivate var isOrderable: Bool {
        semaphores.isEmpty
            && queues.allSatisfy { $0.rate == nil && $0.pendingLimit == .max && !$0.isScope }
            && (steps + operations.flatMap(\.steps)).allSatisfy(\.isOrderable)
            && operations.allSatisfy { $0.level == 2 && $0.weight == 1 }
    }

    /// The program without steps that the search for an order does not support.
    var orderable: Program {
        var copy = self
        copy.queues = copy.queues.filter { !$0.isScope }.map { queue in
            var plain = Program.Queue()
            plain.width = queue.width
            plain.isSuspended = queue.isSuspended
            plain.order = queue.order
            return plain
        }
        let count = copy.queues.count
        copy.semaphores = []
        copy.steps = steps.filter { $0.isOrderable && $0.queue < count }
        for index in operations.indices {
            copy.operations[index].level = 2
            copy.operations[index].weight = 1
            copy.operations[index].limits = []
            copy.operations[index].hasHandler = false
            copy.operations[index].steps = operations[index].steps.filter { $0.isOrderable && $0.queue < count }
        }
        return copy
    }
}

extension Step {
    fileprivate var isOrderable: Bool {
        switch self {
        case .yield, .checkCancellation, .fail: true
        case .await, .addWaiting, .awaitAll, .children, .scope, .call(.setLevel), .call(.advance), .call(.setCap),
            .call(.setPendingLimit):
            false
        case .call: true
        }
    }

    /// The highest queue number in the step; 0 if it has none.
    fileprivate var queue: Int {
        switch self {
        case .call(.add(_, let queue)), .call(.addBarrier(_, let queue)), .call(.cancelAll(let queue)),
            .call(.setSuspended(let queue, _)), .call(.setWidth(let queue, _)), .call(.shutDown(let queue, _)):
            queue
        default: 0
        }
    }
}
