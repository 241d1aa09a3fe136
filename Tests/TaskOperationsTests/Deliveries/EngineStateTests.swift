import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

@Suite("The state of engines", .endsInTime)
struct EngineStateTests {
    /// A payload, as a list without any index describes it.
    private struct Expected {
        let id: Int
        let key: String?
        let identity: String?
        let priority: UInt8
        /// The end of the delay or of the lease.
        var end: Duration?
        var receipt = 0
        var failures = 0
        var isDead = false
        var isOutdated = false
    }

    /// The same engine with a search for each call.
    private struct Model {
        let maxAttempts: Int
        var entries: [Expected] = []

        func index(_ id: Int) -> Int { entries.firstIndex { $0.id == id }! }

        func isFirst(_ entry: Expected) -> Bool {
            entry.key == nil || entries.first { $0.key == entry.key && !$0.isDead }!.id == entry.id
        }

        func isReady(_ entry: Expected) -> Bool {
            entry.receipt == 0 && entry.end == nil && !entry.isDead && isFirst(entry)
        }

        var ready: [Expected] { entries.filter(isReady) }

        mutating func expire(at now: Duration) {
            for entry in entries where entry.end.map({ $0 <= now }) ?? false {
                entries[index(entry.id)].end = nil
                if entry.receipt != 0 { endAttempt(entry.id, hasFailed: true) }
            }
        }

        mutating func endAttempt(_ id: Int, hasFailed: Bool) {
            let index = index(id)
            if entries[index].isOutdated {
                entries.remove(at: index)
                return
            }
            (entries[index].receipt, entries[index].end) = (0, nil)
            if hasFailed { entries[index].failures += 1 }
            if hasFailed, entries[index].failures >= maxAttempts { entries[index].isDead = true }
        }

        mutating func replace(_ id: Int) {
            if entries[index(id)].receipt == 0 {
                entries.remove(at: index(id))
            } else {
                entries[index(id)].isOutdated = true
            }
        }

        func id(of identity: String) -> Int? { entries.first { $0.identity == identity && !$0.isOutdated }?.id }
    }

    @Test(
        "each pull delivers a payload that a search allows, whatever the calls before",
        arguments: 0..<(isDeep ? 400 : 40))
    func programs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let lease = Duration.seconds(10)
        var state = InMemoryEngineState<Int>(lease: lease, maxAttempts: 3)
        var model = Model(maxAttempts: 3)
        var now = Duration.zero
        var held: [(id: Int, receipt: Int)] = []
        let priorities: [TaskPriority] = [.low, .medium, .high]
        func pick<Element>(_ elements: [Element]) -> Element { elements[generator.number(below: elements.count)] }
        for _ in 0..<600 {
            switch generator.number(below: 10) {
            case 0, 1, 2:
                let identity = pick([nil, nil, nil, "x", "y"] as [String?])
                let key = identity == nil ? pick([nil, "a", "b", "c"] as [String?]) : nil
                let options = EnqueueOptions(
                    identity: identity, replaces: pick([true, false]), key: key, priority: pick(priorities),
                    delay: .seconds(pick([0, 0, 0, 7])))
                let existing = identity.flatMap { model.id(of: $0) }
                let id = state.send(0, options, at: now)
                if let existing, !options.replaces {
                    #expect(id == existing)
                    continue
                }
                if let existing { model.replace(existing) }
                model.entries.append(
                    Expected(
                        id: id, key: options.laneKey, identity: identity, priority: options.priority.rawValue,
                        end: options.delay > .zero ? now + options.delay : nil))
            case 3, 4:
                model.expire(at: now)
                switch state.pull(at: now) {
                case .delivery(let id, _, _, let receipt):
                    let entry = model.entries[model.index(id)]
                    #expect(model.isReady(entry))
                    #expect(
                        model.ready.allSatisfy { $0.priority <= entry.priority || $0.key != nil || entry.key != nil })
                    model.entries[model.index(id)].receipt = receipt
                    model.entries[model.index(id)].end = now + lease
                    held.append((id, receipt))
                case .wait(let end):
                    #expect(model.ready.isEmpty)
                    #expect(end == model.entries.filter { !$0.isDead }.compactMap(\.end).min())
                case .end: Issue.record("the engine has ended")
                }
            case 5, 6, 7:
                if held.isEmpty { continue }
                let (id, receipt) = held.remove(at: generator.number(below: held.count))
                model.expire(at: now)
                let isHeld = model.entries.contains { $0.id == id && $0.receipt == receipt }
                let reason = pick([nil, "failed"])
                do {
                    if generator.number(below: 2) == 0 {
                        _ = try state.acknowledge(id, receipt, at: now)
                        if isHeld { model.entries.remove(at: model.index(id)) }
                    } else {
                        let delay = Duration.seconds(pick([0, 4]))
                        try state.reject(id, receipt, after: delay, because: reason, at: now)
                        if isHeld { model.endAttempt(id, hasFailed: reason != nil) }
                        if let entry = model.entries.first(where: { $0.id == id }), !entry.isDead, delay > .zero {
                            model.entries[model.index(id)].end = now + delay
                        }
                    }
                    #expect(isHeld)
                } catch {
                    #expect(!isHeld)
                }
            case 8:
                var last: Int? = 0
                while let id = last { last = state.endDelaysAfterFailures(after: id, limit: 3) }
                for index in model.entries.indices
                where model.entries[index].failures > 0 && model.entries[index].receipt == 0 {
                    model.entries[index].end = nil
                }
            default: now += .seconds(generator.number(below: 6))
            }
            model.expire(at: now)
            state.expire(at: now)
            #expect(state.count == model.entries.count { !$0.isDead })
            #expect(state.deadCount == model.entries.count { $0.isDead })
            #expect(state.heldCount == model.entries.count { $0.receipt != 0 })
            #expect(state.hasNews == !model.ready.isEmpty)
        }
    }

    @Test("a key takes constant time for each payload, and a cancelled payload leaves nothing behind")
    func growth() {
        let ratio = bestRatio(within: 25) { isLarge in
            processorTime {
                var state = InMemoryEngineState<Int>(lease: .seconds(30))
                let count = isLarge ? 8000 : 1000
                for number in 1...count {
                    let options = EnqueueOptions(identity: "\(number % 10)", replaces: true, key: "key")
                    _ = state.send(number, options)
                }
                for _ in 1...count { _ = state.send(0, EnqueueOptions(key: "other")) }
                while case .delivery(let id, _, _, let receipt) = state.pull(at: .zero) {
                    _ = try? state.acknowledge(id, receipt, at: .zero)
                }
                if state.count != 0 { Issue.record("\(state.count) payloads are left") }
            }
        }
        #expect(ratio < 25)
    }
}
