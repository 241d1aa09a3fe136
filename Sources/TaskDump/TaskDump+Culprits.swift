internal import CTaskDump

extension TaskDump {
    /// The graph of waits: an edge leads from a task or thread to each task or thread that must continue first.
    struct Graph {
        private let tasks: [Entry]
        /// The positions in `tasks`, by the numbers of the tasks.
        private let indices: [UInt64: Int]
        private let threads: [Int: ThreadEntry]
        private var nodes: [Node] = []
        /// The waiting tasks, by the node that they wait for.
        private var waiters: [Node: [Node]] = [:]

        /// - Parameter listsThreads: Whether blocked threads count although no listed task waits for them.
        init(_ tasks: [Entry], _ threads: [ThreadEntry], listsThreads: Bool = false) {
            self.tasks = tasks
            indices = Dictionary(tasks.enumerated().map { ($1.number, $0) }) { first, _ in first }
            self.threads = Dictionary(threads.map { ($0.number, $0) }) { first, _ in first }
            var nodes: [Node] = tasks.map { .task($0.number) }
            if listsThreads {
                let blocked = threads.filter { $0.blockedIn != nil && $0.frames.contains { $0.owner == .program } }
                nodes += blocked.map { .thread($0.number) }
            }
            var (known, next) = (Set(nodes), 0)
            // A thread without a task counts if a task waits for it, also through others.
            while next < nodes.count {
                for target in targets(nodes[next]) {
                    waiters[target, default: []].append(nodes[next])
                    if case .thread = target, known.insert(target).inserted { nodes.append(target) }
                }
                next += 1
            }
            self.nodes = nodes
        }

        /// The tasks and threads that wait for no other ones, and the cycles. Equal ones are one culprit.
        ///
        /// Takes O(*n* + *w* · *c*) time for *n* tasks, *w* waits and *c* culprits.
        var culprits: [Culprit] {
            var groups: [(key: String, rank: Int, members: [Node], isCycle: Bool)] = []
            var positions: [String: Int] = [:]
            for component in components where isEnd(component) {
                if component.count == 1, isCaller(component[0]) { continue }
                let key = component.count > 1 ? cycleText(component) : groupText(component[0])
                if component.count == 1, let position = positions[key] {
                    groups[position].members += component
                } else {
                    positions[key] = groups.count
                    groups.append((key, rank(component[0]), component, component.count > 1))
                }
            }
            let held = groups.map { heldUp($0.members) }
            let order = groups.indices.sorted { one, other in
                let (first, second) = (groups[one], groups[other])
                if held[one].count != held[other].count { return held[one].count > held[other].count }
                if first.rank != second.rank { return first.rank < second.rank }
                return first.members.count > second.members.count
            }
            return order.map { index in
                let group = groups[index]
                let text = group.members.count > 1 ? group.key : text(group.members[0])
                return culprit(group.members, held[index], group.isCycle, text)
            }
        }

        private func culprit(_ members: [Node], _ held: [UInt64], _ isCycle: Bool, _ text: String) -> Culprit {
            let numbers = members.compactMap(\.task).sorted()
            let count = members.count
            let threads = members.count - numbers.count
            let subject = [(numbers.count, "task"), (threads, "thread")].filter { $0.0 > 0 }
                .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: " and ")
            let noun = (numbers.isEmpty ? "task" : "other") + (held.count == 1 ? "" : "s")
            let others = held.isEmpty ? "" : " \(count == 1 ? "holds" : "hold") up \(held.count) \(noun)"
            let line =
                isCycle
                ? "\(subject) wait for each other\(held.isEmpty ? "" : " and\(others)"): \(text)"
                : "\(subject)\(others): \(text)"
            return Culprit(tasks: numbers, heldUp: held, isCycle: isCycle, description: line)
        }

        // MARK: Nodes

        private func entry(_ node: Node) -> Entry? { node.task.flatMap { indices[$0] }.map { tasks[$0] } }

        private func targets(_ node: Node) -> [Node] {
            switch node {
            case .task: entry(node)?.targets ?? []
            case .thread(let number): threads[number]?.targets ?? []
            }
        }

        private func isCaller(_ node: Node) -> Bool { entry(node)?.isCaller ?? false }

        /// The line of a task or thread that ends a chain of waits.
        private func text(_ node: Node) -> String {
            switch node {
            case .task: entry(node)?.waitDescription ?? ""
            case .thread(let number):
                threads[number].map { thread in
                    let name = number == Int(taskDumpProcess()) ? "the main thread" : "thread \(number)"
                    return "\(Self.place(thread.frames)) "
                        + (thread.blockedIn.map { "blocks \(name) in \($0.onOneLine)" } ?? "computes on \(name)")
                } ?? ""
            }
        }

        /// The same for equal tasks.
        private func groupText(_ node: Node) -> String { entry(node)?.groupDescription ?? text(node) }

        private static func place(_ frames: [Frame]) -> String {
            frames.ofProgram.map { "\($0)" } ?? "code without a name"
        }

        private func cycleText(_ component: [Node]) -> String {
            // A walk from the task with the lowest number. Each member of a cycle has a target in it.
            let members = Set(component)
            var (walk, next) = ([Node](), component.min { ($0.task ?? .max) < ($1.task ?? .max) })
            while let node = next, !walk.contains(node), walk.count < 20 {
                walk.append(node)
                next = targets(node).first { members.contains($0) && !walk.contains($0) }
            }
            let texts = walk.map { node in
                switch node {
                case .task(let number): "\(entry(node)?.place ?? "") (task \(number))"
                case .thread(let number): "\(Self.place(threads[number]?.frames ?? [])) (thread \(number))"
                }
            }
            guard let last = walk.last, targets(last).contains(walk[0]) else { return texts.joined(separator: " → ") }
            return texts.joined(separator: " → ") + " → the first"
        }

        /// The order of culprits that hold up equally many tasks.
        private func rank(_ node: Node) -> Int {
            guard let entry = entry(node) else { return 0 }
            return switch entry.wait {
            case .thread: 0
            case .task, .children, .actor, .operation: 1
            case .continuation: 2
            case .element: 3
            case .nothing: 4
            case .executor: 5
            case .sleep: 6
            }
        }

        // MARK: Searches

        private func heldUp(_ members: [Node]) -> [UInt64] {
            var (found, pending) = (Set(members), members)
            while let node = pending.popLast() {
                for waiter in waiters[node] ?? [] where found.insert(waiter).inserted { pending.append(waiter) }
            }
            return found.subtracting(members).compactMap(\.task).sorted()
        }

        /// Whether no task of a component waits for another component.
        private func isEnd(_ component: [Node]) -> Bool {
            let members = Set(component)
            return component.allSatisfy { targets($0).allSatisfy { members.contains($0) } }
        }

        /// The strongly connected components (Tarjan 1972), without recursion.
        private var components: [[Node]] {
            var (order, low, onStack) = ([Node: Int](), [Node: Int](), Set<Node>())
            var (stack, result) = ([Node](), [[Node]]())
            for start in nodes where order[start] == nil {
                var calls: [(node: Node, next: Int)] = [(start, 0)]
                while let call = calls.last {
                    let node = call.node
                    if call.next == 0, order[node] == nil {
                        order[node] = order.count
                        low[node] = order[node]
                        stack.append(node)
                        onStack.insert(node)
                    }
                    let targets = targets(node)
                    if call.next < targets.count {
                        calls[calls.count - 1].next += 1
                        let target = targets[call.next]
                        if order[target] == nil {
                            calls.append((target, 0))
                        } else if onStack.contains(target) {
                            low[node] = min(low[node]!, order[target]!)
                        }
                        continue
                    }
                    calls.removeLast()
                    if let caller = calls.last?.node { low[caller] = min(low[caller]!, low[node]!) }
                    guard low[node] == order[node], let first = stack.lastIndex(of: node) else { continue }
                    result.append(Array(stack[first...]))
                    stack[first...].forEach { onStack.remove($0) }
                    stack.removeSubrange(first...)
                }
            }
            return result
        }
    }
}

extension TaskDump.Node {
    fileprivate var task: UInt64? { if case .task(let number) = self { number } else { nil } }
}

extension [TaskDump.Frame] {
    /// The innermost function of the program, with a line if one has a line.
    var ofProgram: TaskDump.Frame? {
        first { $0.owner == .program && $0.place != nil } ?? first { $0.owner == .program } ?? first
    }
}
