import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("The state of an operation of Foundation in its node", .inTurns)
struct LegacyStateTests {
    /// The events. Each is used only in states in which `LegacyNode` allows it.
    private enum Event: CaseIterable {
        case claim, refuse, begin, nodeEnded, start, undoStart
        case beginObservation, beginObservationByBody, observationBegan
        case seeReady, seeCancelled, seeFinished, seeNothing
    }

    /// The state, and the effects that were observed after events.
    private struct History {
        var state = LegacyState()
        var startedFrom: LegacyState.Phase?
        var isBeginningObservation = false
        var observations = 0
        var ends = 0
        var faults: [String] = []

        mutating func take(_ event: Event) {
            let before = state.phase
            switch event {
            case .claim:
                if state.claim() != (before == .foreign) { faults.append("claimed in \(before)") }
            case .refuse: if before == .submitted { state.refuse() }
            case .begin: if before == .submitted { goOn(state.begin()) }
            case .nodeEnded:
                if state.nodeEnded() != (before == .submitted || before == .begun) {
                    faults.append("abandoned in \(before)")
                }
            case .start: start()
            case .undoStart: undoStart()
            case .beginObservation: observe(state.beginObservation())
            case .beginObservationByBody: if before == .begun { observe(state.beginObservation(byBody: true)) }
            case .observationBegan:
                if isBeginningObservation { state.observationBegan() }
                isBeginningObservation = false
            case .seeReady: see(.init(isReady: true, isCancelled: false, isFinished: false))
            case .seeCancelled: see(.init(isReady: false, isCancelled: true, isFinished: false))
            case .seeFinished: see(.init(isReady: true, isCancelled: false, isFinished: true))
            case .seeNothing: see(.init(isReady: false, isCancelled: false, isFinished: false))
            }
            if before == .finished, state.phase != .finished { faults.append("\(event) after the end") }
        }

        private mutating func goOn(_ mayGoOn: Bool) {
            if mayGoOn == isBeginningObservation { faults.append("the body does not wait for the observation") }
        }

        private mutating func start() {
            guard let phase = state.start() else { return }
            if startedFrom != nil { faults.append("started twice") }
            if isBeginningObservation { faults.append("started while Foundation is given the operation") }
            startedFrom = phase
        }

        private mutating func undoStart() {
            guard let phase = startedFrom, state.phase == .started else { return }
            state.undoStart(from: phase)
            startedFrom = nil
        }

        private mutating func observe(_ isFirst: Bool) {
            if !isFirst { return }
            observations += 1
            if observations > 1 { faults.append("observed twice") }
            if startedFrom != nil { faults.append("observed after the start") }
            isBeginningObservation = true
        }

        private mutating func see(_ sight: LegacyState.Sight) {
            let phase = state.phase
            for command in state.saw(sight) {
                switch command {
                case .finish: ends += 1
                case .startAbandoned where phase != .abandoned || isBeginningObservation || !sight.isReady:
                    faults.append("start of what is \(phase)")
                case .cancelNode where phase != .submitted || !sight.isCancelled:
                    faults.append("cancellation of what is \(phase)")
                default: break
                }
            }
            if ends > 1 { faults.append("finished twice") }
            if sight.isFinished, state.phase != .finished { faults.append("the end was missed") }
        }
    }

    @Test("every sequence of events after the claim starts and observes once, and ends once")
    func sequences() {
        let events = Event.allCases
        var faults: Set<String> = []
        func explore(_ history: History, _ depth: Int) {
            faults.formUnion(history.faults)
            if depth == 0 { return }
            for event in events {
                var next = history
                next.take(event)
                explore(next, depth - 1)
            }
        }
        var claimed = History()
        claimed.take(.claim)
        explore(claimed, size(4, deep: 5))
        explore(History(), 3)
        #expect(faults.isEmpty)
    }

    @Test("a look that is asked for during a look follows it, on the thread that looks")
    func looks() {
        var state = LegacyState()
        let steps = [
            state.look(), state.beginLook(), state.look(), state.beginLook(), state.beginLook(), state.look(),
        ]
        #expect(steps == [true, true, false, true, false, true])
    }
}
