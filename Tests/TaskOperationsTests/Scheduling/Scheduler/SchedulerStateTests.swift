import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("SchedulerState, beside a plain model of it", .computing)
struct SchedulerStateTests {
    private static let seeds = isDeep ? 40 : 6

    private static let mixes: [SchedulerProgram.Mix] = [
        SchedulerProgram.Mix(description: "a few operations"),
        SchedulerProgram.Mix(description: "two operations at width 1", mostOperations: 2, widths: 1...1),
        SchedulerProgram.Mix(description: "barriers", steps: 100, mostOperations: 8, percentBarriers: 60),
        SchedulerProgram.Mix(description: "two levels", levels: [.medium, .high], levelChanges: 30),
        SchedulerProgram.Mix(description: "lending", percentBarriers: 10, lending: 30, control: 2),
        SchedulerProgram.Mix(
            description: "time", steps: 120, mostOperations: 8, widths: 0...5, percentBarriers: 5, levelChanges: 2,
            control: 2, caps: 1, time: 12),
        SchedulerProgram.Mix(
            description: "little room", mostOperations: 12, percentBarriers: 10, queuedLimits: 1...4, room: 10),
        SchedulerProgram.Mix(
            description: "caps", mostOperations: 8, widths: 0...5, percentBarriers: 10, lending: 12, control: 2, caps: 8
        ),
    ]

    @Test("Random events lead to the same decisions, and nothing is stuck", arguments: mixes)
    func randomEvents(mix: SchedulerProgram.Mix) {
        var starts = 0
        for seed in 0..<Self.seeds {
            var program = SchedulerProgram(seed: seed, mix: mix)
            guard run(&program, seed) else { return }
            starts += program.pair.starts
        }
        #expect(starts > 2 * Self.seeds)
    }

    private static let crowdMixes: [SchedulerProgram.Mix] = [
        SchedulerProgram.Mix(
            description: "changing levels", steps: isDeep ? 800 : 400, mostOperations: 120, percentBarriers: 2,
            levels: [.medium, .high], levelChanges: 60, ends: 1, compareEvery: 500),
        SchedulerProgram.Mix(
            description: "changing readiness", steps: isDeep ? 800 : 400, mostOperations: 120, percentBarriers: 2,
            percentReady: 50, readiness: 60, ends: 1, compareEvery: 500),
        SchedulerProgram.Mix(
            description: "returning", steps: isDeep ? 800 : 400, mostOperations: 120, widths: 20...60,
            percentBarriers: 0,
            levels: [.medium, .high], levelChanges: 30, lending: 60, ends: 3, compareEvery: 500),
        SchedulerProgram.Mix(
            description: "waiting for room", steps: isDeep ? 800 : 400, mostOperations: 120, percentBarriers: 2,
            ends: 3, compareEvery: 500, queuedLimits: 60...100, room: 40),
    ]

    @Test("Crowds whose lines are swept lead to the same decisions", arguments: crowdMixes)
    func crowds(mix: SchedulerProgram.Mix) {
        for seed in 0..<(isDeep ? 2 : 1) {
            var program = SchedulerProgram(seed: seed, mix: mix)
            guard run(&program, seed) else { return }
        }
    }

    @Test("Barriers whose delays end at random move behind all operations, except those that wait for them")
    func delayedBarriers() {
        for seed in 0..<UInt64(isDeep ? 1000 : 50) {
            var random = SeededGenerator(seed: seed)
            var state = SchedulerState<Int, Int>(.init(maxConcurrentOperationCount: 1 + random.number(below: 4)))
            var added = 0
            for step in 0..<80 {
                let slot = state.rows.slots.randomElement(using: &random)
                switch (random.number(below: 10), slot) {
                case (0..<3, _), (_, nil):
                    let (isBarrier, isDelayed) = (random.happens(percent: 50), random.happens(percent: 60))
                    _ = state.add(
                        step, level: random.level(), isReady: !isDelayed && random.happens(percent: 70),
                        isBarrier: isBarrier, isDelayed: isBarrier && isDelayed)
                    added += 1
                case (3, let slot?): state.setLevel(slot, random.level())
                case (4, let slot?): state.setReady(slot, random.happens(percent: 70))
                case (5, let slot?): state.remove(slot)
                case (6...7, _): if let level = state.peekedLevel { _ = state.nextStart(at: level) }
                case (_, let slot?): endDelay(of: slot, in: &state, &random)
                }
                let violations = state.violations
                #expect(violations.isEmpty && state.counts.added == added, "seed \(seed), step \(step)")
                if !violations.isEmpty { return }
            }
            for slot in state.rows.slots { endDelay(of: slot, in: &state, &random) }
            for slot in state.rows.slots { state.setReady(slot, true) }
            while let slot = state.rows.slots.first(where: { state.rows[$0].status == .executing })
                ?? state.peekedLevel.flatMap({ state.nextStart(at: $0) })
            {
                state.remove(slot)
                #expect(state.violations.isEmpty, "seed \(seed), at the end")
            }
            #expect(state.isEmpty, "seed \(seed): \(state.elements) do not start")
        }
    }

    private func endDelay(of slot: Int, in state: inout SchedulerState<Int, Int>, _ random: inout SeededGenerator) {
        guard state.isOutsideLine(slot) else { return }
        let dependents = state.rows.slots.filter { _ in random.happens(percent: 15) }
        let moving = state.operationsMoving(with: dependents)
        let moved = moving.map { state.rows[$0].element }
        let last = [state.rows[slot].element] + moved
        let expected = state.elements.filter { !last.contains($0) } + last
        let isFirst = !state.rows.slots.contains { state.rows[$0].isBarrier && !state.isOutsideLine($0) }
        let before = state.elementsHoldingBackNextBarrier(without: moving)
        if isFirst {
            let delayed = state.rows.slots.filter(state.isOutsideLine).map { state.rows[$0].element }
            #expect(before == expected.filter { !last.contains($0) && !delayed.contains($0) })
        }
        state.endDelay(of: slot, before: moving)
        #expect(state.elements == expected)
        #expect(state.elementsHoldingBack(slot) == before)
    }

    /// Runs a program. Returns whether it found no difference.
    private func run(_ program: inout SchedulerProgram, _ seed: Int) -> Bool {
        do {
            try program.run()
            return true
        } catch {
            let history = program.history.suffix(80).map { "  \($0)" }.joined(separator: "\n")
            Issue.record("seed \(seed), after \(program.history.count) events: \(error)\n\(history)")
            return false
        }
    }
}

@Suite("SchedulerState, by example", .inTurns)
struct SchedulerStateExampleTests {
    @Test("An operation that changes its level behind a barrier is counted once when the barrier has ended")
    func levelChangeBehindBarrier() {
        var state = SchedulerState<String, Int>(.init(maxConcurrentOperationCount: 4))
        let barrier = state.add("barrier", isBarrier: true)!
        let held = state.add("held")!
        state.setReady(held, true)
        state.setLevel(held, .high)
        state.remove(barrier)
        #expect(state.selection.ready.count == 1)
        #expect(state.startableCount == 1)
        #expect(state.violations == [])
    }

    @Test("An operation whose readiness changes for ever takes a bounded place", arguments: [false, true])
    func changingReadiness(isBehindBarrier: Bool) {
        var state = SchedulerState<String, Int>(.init(maxConcurrentOperationCount: 4, isSuspended: true))
        if isBehindBarrier { _ = state.add("barrier", isBarrier: true) }
        let slots = [state.add("one")!, state.add("other")!]
        for step in 0..<10_000 {
            state.setReady(slots[step % 65 == 0 ? 1 : 0], false)
            for slot in slots { state.setReady(slot, true) }
        }
        #expect(state.selection.ready.entriesWithRemoved.count + state.heldBack.entriesWithRemoved.count < 300)
        #expect(state.violations == [])
    }
}
