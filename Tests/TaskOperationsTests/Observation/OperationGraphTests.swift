import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Snapshots of queues", .inTurns, .endsInTime)
struct OperationGraphTests {
    @Test("a snapshot has operations, edges, states and reasons, of several queues", .schedules(5))
    func everything() async throws {
        let gate = Gate()
        let net = TaskOperationQueue(name: "net", maxConcurrentOperationCount: 1)
        let images = TaskOperationQueue(name: "images \"x\" <y>")
        let download = net.addOperation(name: "download") { await gate.pass() }
        await gate.waitForArrivals(1)
        let made = TaskOperation(name: "made") {}
        let decode = images.addOperation(name: "decode", dependencies: [download, made]) {}
        let barrier = images.addBarrier(name: "barrier\n") {}
        let show = images.addOperation(name: "show", priority: .high) {}
        let graph = TaskOperationQueue.snapshot(of: [images, net])
        #expect(graph.queues.map(\.label.name) == ["net", "images \"x\" <y>"])
        #expect(graph.operations.map(\.label.name) == ["download", "decode", "barrier\n", "show", "made"])
        #expect(graph.operations.map(\.state) == [.executing, .waiting, .ready, .ready, .created])
        #expect(graph.operations.map(\.queue) == [0, 1, 1, 1, nil])
        #expect(graph.operations.map(\.number) == [1, 1, 2, 3, nil])
        #expect(
            graph.edges.map { "\($0.waiter) \($0.target) \($0.kind)" } == [
                "1 0 dependency", "1 4 dependency", "2 1 barrier", "3 2 barrier",
            ])
        #expect(graph.operations[3].reasons == [.barrier(graph.operations[2].label)])
        #expect(graph.operations[3].priority == .high && graph.operations[2].isBarrier)
        let decoded = try JSONDecoder().decode(OperationGraph.self, from: JSONEncoder().encode(graph))
        #expect(decoded == graph)
        #expect(
            "\(graph)" == """
                queue "net" (width 1, 1 permit taken)
                  "download" (executing) executes its own code
                queue "images "x" <y>" (width \(images.maxConcurrentOperationCount), 0 permits taken)
                  "decode" (waiting) waits for "download" on queue "net", and waits for "made"
                  "barrier " (ready, barrier) is a barrier and waits for 1 before it
                  "show" (ready) waits behind the barrier "barrier "
                "made" (created) was not added to a queue
                """)
        checkDrawings(graph)
        gate.open()
        made.cancel()
        try await show.value
        try await decode.value
        try await barrier.value
        #expect(images.snapshot().operations.isEmpty)
    }

    @Test("a snapshot has the limits of each operation, with their keys and weights")
    func limits() async throws {
        let gate = Gate()
        let hosts = AsyncSemaphore(capacity: 9, perKey: 1, name: "hosts")
        let other = AsyncSemaphore(capacity: 4)
        let queue = TaskOperationQueue(.init(name: "net", defaults: .limit(hosts, key: 7)))
        let first = queue.addOperation(name: "first") { await gate.pass() }
        await gate.waitForArrivals(1)
        let second = queue.addOperation(name: "second", .limit(other, weight: 2)) {}
        let plain = TaskOperationQueue(name: "plain")
        let last = plain.addOperation(dependencies: [second]) {}
        let (graph, plainGraph) = (queue.snapshot(), plain.snapshot())
        let limits = (graph.operations + plainGraph.operations).map { operation in
            operation.limits.map { "\($0.name ?? "unnamed") \($0.key ?? "-") \($0.weight)" }
        }
        let both = ["hosts 7 1", "unnamed - 2"]
        #expect(limits == [["hosts 7 1"], both, [], both])
        let decoded = try JSONDecoder().decode(OperationGraph.self, from: JSONEncoder().encode(graph))
        #expect(decoded == graph)
        let reason = "semaphore \"hosts\", key 7, 1 of 1 permits taken"
        #expect(graph.operations[1].reasons == [.limit(reason)])
        #expect("\(graph.operations[0])" == "\"first\" (executing, key 7) executes its own code")
        #expect("\(graph.operations[1])" == "\"second\" (ready, key 7) waits for \(reason)")
        gate.open()
        try await first.value
        try await last.value
    }

    private func checkDrawings(_ graph: OperationGraph) {
        #expect(
            graph.mermaid.hasPrefix(
                """
                flowchart LR
                  subgraph q0["queue #quot;net#quot;"]
                    o0["download"]:::executing
                  end
                  subgraph q1["queue #quot;images #quot;x#quot; #lt;y#gt;#quot;"]
                    o1["decode"]:::waiting
                    o2{{"barrier "}}:::ready
                    o3["show"]:::ready
                  end
                  o4["made"]:::waiting
                  o0 --> o1
                  o4 --> o1
                  o1 -.-> o2
                  o2 -.-> o3

                """))
    }

    @Test("names of any scalars are escaped in drawings, also before a combining mark")
    func hostileNames() throws {
        let queue = TaskOperationQueue(.init(name: "\"\u{301}<\u{301}", isSuspended: true))
        for name in ["#\u{301}>\u{301}`\u{301}&lt;", "\\\u{301}\"\u{338}", "a\r\nb\u{0}\u{FFFE}c\u{FFFF}"] {
            queue.addOperation(name: name) {}
        }
        let graph = queue.snapshot()
        let mermaid = graph.mermaid
        #expect(mermaid.contains("[\"queue #quot;#quot;\u{301}#lt;\u{301}#quot;\"]"))
        #expect(mermaid.contains("[\"#35;\u{301}#gt;\u{301}#96;\u{301}#amp;lt;\"]"))
        #expect(mermaid.contains("[\"\\\u{301}#quot;\u{338}\"]") && mermaid.contains("[\"a  b c\"]"))
        #expect(graph.description.split(separator: "\n").count == 4)
        queue.cancelAllOperations()
    }

    @Test("a decoded graph is refused if an index is outside of its array", arguments: ["queue", "waiter", "target"])
    func decodedIndices(key: String) throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation(dependencies: [queue.addOperation {}]) {}
        let graph = queue.snapshot()
        let text = String(decoding: try JSONEncoder().encode(graph), as: UTF8.self)
        #expect(try JSONDecoder().decode(OperationGraph.self, from: Data(text.utf8)) == graph)
        for index in ["2", "-1", "9223372036854775807"] {
            let damaged = text.replacing(try Regex("\"\(key)\":[01]"), with: "\"\(key)\":\(index)")
            #expect(damaged != text)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(OperationGraph.self, from: Data(damaged.utf8))
            }
        }
        queue.cancelAllOperations()
    }

    @Test("a snapshot of 10,000 queues is of one moment")
    func manyQueues() async {
        await #expect(processExitsWith: .success) {
            // The thread sanitizer supports at most 64 locks of one thread.
            #if TASK_OPERATIONS_PTHREAD_LOCK
                let count = 50
            #else
                let count = 10_000
            #endif
            let queues = (0..<count).map { _ in TaskOperationQueue(.init(isSuspended: true)) }
            for queue in queues { queue.addOperation {} }
            // A thread of the pool has a small stack.
            let graph = await Task.detached { TaskOperationQueue.snapshot(of: queues) }.value
            #expect(graph.queues.count == count && graph.operations.count == count)
            for queue in queues { queue.isSuspended = false }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        }
    }

    @Test("a snapshot of two queues that work on each other is of one moment")
    func oneMoment() async throws {
        let queues = [TaskOperationQueue(), TaskOperationQueue()]
        let isOver = Lock(false)
        async let adding: Void = {
            for number in 0..<3000 {
                let first = queues[number % 2].addOperation {}
                queues[(number + 1) % 2].addOperation(dependencies: [first]) {}
            }
            isOver.withLock { $0 = true }
        }()
        var looks = 0
        while !isOver.withLock({ $0 }) || looks < 10 {
            let graph = TaskOperationQueue.snapshot(of: queues.shuffled())
            looks += 1
            for edge in graph.edges {
                let (waiter, target) = (graph.operations[edge.waiter], graph.operations[edge.target])
                #expect(target.queue != nil && target.state != .finished)
                #expect(waiter.state == .waiting && waiter.queue != target.queue)
            }
            for operation in graph.operations where operation.state == .waiting {
                #expect(!operation.reasons.isEmpty)
            }
            await Task.yield()
        }
        await adding
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("a snapshot of 100,000 operations is linear, and has the reasons of each")
    func many() async throws {
        let count = isDeep ? 100_000 : 10_000
        let queue = TaskOperationQueue(.init(name: "many", isSuspended: true))
        var last: AnyTaskOperation?
        for number in 0..<count {
            let dependencies = number.isMultiple(of: 2) ? [] : [last!]
            last =
                number.isMultiple(of: 1000)
                ? queue.addBarrier {} : queue.addOperation(dependencies: dependencies) {}
        }
        let start = ContinuousClock.now
        let graph = queue.snapshot()
        print("snapshot of \(count) operations: \(ContinuousClock.now - start)")
        #expect(graph.operations.count == count && graph.operations.allSatisfy { !$0.reasons.isEmpty })
        #expect(graph.mermaid.utf8.count > count)
        queue.cancelAllOperations()
    }
}
