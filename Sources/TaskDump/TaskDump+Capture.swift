internal import CTaskDump

extension TaskDump {
    /// Lists the living tasks.
    ///
    /// Can be called at any time, from any thread. The time is about 20 µs for each task. The first call that meets code
    /// with debug information can take seconds.
    ///
    /// - Parameter explainer: Describes waits of a library. TaskOperationsDiagnosis has `.operations`.
    public static func capture(explaining explainer: Explainer? = nil) -> TaskDump {
        capture({ Snapshot() }, explainer)
    }

    /// Lists some of the living tasks. The time depends on their number, and hardly on the number of other tasks.
    package static func capture(
        of isIncluded: (UInt64) -> Bool, explaining explainer: Explainer? = nil
    ) -> TaskDump {
        withoutActuallyEscaping(isIncluded) { isIncluded in
            // The tasks to which the included ones refer are read, too.
            capture({ Snapshot(of: isIncluded) }, explainer).filtered(isIncluded)
        }
    }

    private static func capture(_ snapshot: () -> Snapshot, _ explainer: Explainer?) -> TaskDump {
        let isListing = taskDumpBegin() != 0
        var translation = Translation(snapshot(), explainer)
        return TaskDump(
            tasks: translation.tasks(), threads: translation.threads,
            limitation: isListing ? nil : Self.unlisted,
            overview: isListing ? nil : explainer?.overview())
    }

    private static var unlisted: String {
        taskDumpIsStatic() != 0
            ? "Tasks are not listed: the program contains the runtime of Swift. Link it without `-static-stdlib`."
            : "Tasks are not listed: the layout of this runtime or system is not known."
    }

    /// Lists the tasks that are created from now on. Returns false if this runtime or system does not allow it.
    @discardableResult
    package static func begin() -> Bool { taskDumpBegin() != 0 }

    /// The numbers of the listed tasks. Some may have ended a moment ago.
    package static var listedTasks: Set<UInt64> { Set(Snapshot.list().map(\.number)) }

    /// Whether a task has not ended. If tasks are not listed, the memory of an ended task can look like the task.
    package static func isLiving(_ task: UnsafeRawPointer, number: UInt64) -> Bool {
        taskDumpIsLiving(task, number) != 0
    }

    /// Only some tasks.
    package func filtered(_ isIncluded: (UInt64) -> Bool) -> TaskDump {
        func isLeft(_ node: Node) -> Bool { if case .task(let number) = node { isIncluded(number) } else { true } }
        var (tasks, threads) = (tasks.filter { isIncluded($0.number) }, threads)
        for index in tasks.indices { tasks[index].targets.removeAll { !isLeft($0) } }
        for index in threads.indices { threads[index].targets.removeAll { !isLeft($0) } }
        return TaskDump(tasks: tasks, threads: threads, limitation: limitation, overview: overview)
    }

    init(tasks: [Entry], threads: [ThreadEntry] = [], limitation: String? = nil, overview: String? = nil) {
        (self.tasks, self.threads, self.limitation, self.overview) = (tasks, threads, limitation, overview)
        culprits = Graph(tasks, threads, listsThreads: limitation != nil).culprits
    }
}

/// Translates addresses to functions and numbers, and tells what tasks wait for.
private struct Translation {
    /// The functions with which a suspended task continues. Most tasks of a process share them with others.
    private struct Chain {
        let frames: [TaskDump.Frame]
        /// Whether the innermost function of the program has called a function that sleeps, or one of a sequence.
        let sleeps: Bool
        let awaitsElement: Bool

        init(_ frames: [TaskDump.Frame]) {
            self.frames = frames
            let names = frames.prefix { $0.owner != .program }.map(\.function)
            sleeps = names.contains { $0.includes("sleep") }
            awaitsElement = names.contains {
                $0.includes("Stream") || $0.includes("Sequence") || $0.includes(".next(")
            }
        }
    }

    /// A group, and the task that created it: another group can have the same address later.
    private struct Group: Hashable {
        let owner: UInt64
        let address: UInt
    }

    private let snapshot: Snapshot
    private let symbols: Symbols
    private let stacks: [[TaskDump.Frame]]
    private let explanations: [UInt: TaskDump.Explanation]
    private var chains: [[UInt]: Chain] = [:]
    private var creators: [[UInt]: [TaskDump.Frame]] = [:]
    private var children: [Group: [UInt64]] = [:]
    private let now = taskDumpNow()
    /// The tasks that run in the pool or block its threads, if they leave no thread for others.
    private let fullPool: [TaskDump.Node]

    init(_ snapshot: Snapshot, _ explainer: TaskDump.Explainer?) {
        var addresses: Set<UInt> = []
        for state in snapshot.states { addresses.formUnion(words(of: state.functions) + words(of: state.starts)) }
        for birth in snapshot.births.values { addresses.formUnion(birth.callers) }
        for thread in snapshot.threads { addresses.formUnion(thread.stack) }
        let symbols = Symbols(addresses)
        self.snapshot = snapshot
        self.symbols = symbols
        stacks = snapshot.threads.map { symbols.frames($0.stack) }
        let explained = explainer.map { $0.explain(snapshot.states.compactMap { Self.candidate($0, symbols) }) } ?? []
        explanations = Dictionary(explained.map { ($0.task, $0) }) { first, _ in first }
        let busy = snapshot.threads.filter { $0.task != nil && $0.thread != taskDumpProcess() }
        fullPool =
            busy.count < Int(taskDumpProcessorCount())
            ? [] : busy.compactMap { snapshot.number(of: address($0.task)) }.map { .task($0) }
        for state in snapshot.states where state.group != nil {
            let group = Group(owner: state.parentNumber, address: address(state.group))
            children[group, default: []].append(state.number)
        }
    }

    private static func candidate(_ state: TaskDumpState, _ symbols: Symbols) -> TaskDump.Candidate? {
        let functions = words(of: state.functions)
        guard functions.contains(where: { symbols[$0]?.owner == .package }) else { return nil }
        let contexts = withUnsafeBytes(of: state.contexts) { Array($0.bindMemory(to: UInt.self)) }
        let frames = zip(functions, contexts).map { function, context in
            // The address can be any number.
            let limit = context > .max - 512 ? .max : context + 512
            let end = min(contexts.filter { $0 > context }.min() ?? .max, limit)
            return TaskDump.Candidate.Frame(
                function: symbols[function]?.function ?? "", owner: symbols[function]?.owner ?? .system, start: context,
                end: end)
        }
        return TaskDump.Candidate(
            task: address(state.task), frames: frames, isWaiting: state.wait == .continuation)
    }

    // MARK: Threads

    var threads: [TaskDump.ThreadEntry] {
        zip(snapshot.threads, stacks).map { thread, stack in
            TaskDump.ThreadEntry(
                number: Int(thread.thread), task: snapshot.number(of: address(thread.task)),
                blockedIn: thread.isBlocked == 0 ? nil : blockingCall(stack, thread), frames: stack,
                targets: holder(of: thread).map { [$0] } ?? [])
        }
    }

    /// The task or the thread that has the lock for which a thread waits.
    private func holder(of thread: TaskDumpThread) -> TaskDump.Node? {
        guard thread.holder > 0, let holder = snapshot.threads.first(where: { $0.thread == thread.holder }) else {
            return nil
        }
        return snapshot.number(of: address(holder.task)).map { .task($0) } ?? .thread(Int(holder.thread))
    }

    private func kind(of thread: TaskDumpThread) -> String? {
        if thread.holder == thread.thread { return "a lock that the same thread has" }
        switch holder(of: thread) {
        case .task(let number): return "a lock that the thread of task \(number) has"
        case .thread(let number): return "a lock that thread \(number) has"
        case nil: return taskDumpCallName(thread.call).map { String(cString: $0) }
        }
    }

    /// The function of a library that the program called, and the kind of the system call.
    private func blockingCall(_ frames: [TaskDump.Frame], _ thread: TaskDumpThread) -> String {
        let kind = kind(of: thread)
        let own = frames.firstIndex { $0.owner == .program } ?? 0
        let library = frames[..<own].last?.function.drop { $0 == "_" }
        switch (library, kind) {
        case (let function?, let kind?): return "\(function) (\(kind))"
        case (let function?, nil): return String(function)
        case (nil, let kind?): return kind
        case (nil, nil): return "a call of the system"
        }
    }

    // MARK: Tasks

    mutating func tasks() -> [TaskDump.Entry] {
        let order = snapshot.states.indices.sorted { snapshot.states[$0].number < snapshot.states[$1].number }
        return order.map { entry(of: snapshot.states[$0]) }
    }

    private mutating func entry(of state: TaskDumpState) -> TaskDump.Entry {
        let birth = snapshot.births[state.number] ?? Snapshot.Birth()
        let chain = chain(of: state)
        let isRunning = state.status == .running || state.status == .changing
        let thread = isRunning ? snapshot.indexOfThread(state) : nil
        let (wait, targets) =
            if isRunning { runningWait(thread) } else { wait(of: state, chain, birth.wakeTime) }
        return TaskDump.Entry(
            number: state.number, name: birth.name, priority: TaskPriority(rawValue: state.priority),
            isCancelled: state.isCancelled != 0, creators: creators(birth.callers),
            frames: thread.map { stacks[$0] } ?? chain.frames, wait: wait,
            parent: snapshot.contains(state.parentNumber) ? state.parentNumber : nil, targets: targets,
            isCaller: snapshot.caller == address(state.task))
    }

    private mutating func chain(of state: TaskDumpState) -> Chain {
        let (starts, functions) = (words(of: state.starts), words(of: state.functions))
        let key = starts + [0] + functions
        if let known = chains[key] { return known }
        let start = symbols.frames(starts).first { $0.owner == .program }
        let chain = Chain((start.map { [$0] } ?? []) + symbols.frames(functions))
        chains[key] = chain
        return chain
    }

    private mutating func creators(_ callers: [UInt]) -> [TaskDump.Frame] {
        if let known = creators[callers] { return known }
        let frames = symbols.frames(callers)
        creators[callers] = frames
        return frames
    }

    private func runningWait(_ index: Int?) -> (TaskDump.Wait, [TaskDump.Node]) {
        guard let index, snapshot.threads[index].isBlocked != 0 else { return (.nothing, []) }
        let thread = snapshot.threads[index]
        return (.thread(blockingCall(stacks[index], thread)), holder(of: thread).map { [$0] } ?? [])
    }

    private func wait(of state: TaskDumpState, _ chain: Chain, _ wakeTime: Int64) -> (TaskDump.Wait, [TaskDump.Node]) {
        let object = address(state.object)
        switch state.wait {
        case .task:
            // A task that ended meanwhile has made this one ready.
            let number = state.objectNumber
            return snapshot.contains(number) ? (.task(number), [.task(number)]) : (.executor, [])
        case .group:
            let numbers = (children[Group(owner: state.number, address: object)] ?? []).sorted()
            return (.children(numbers), numbers.map { .task($0) })
        case .continuation: return continuationWait(of: state, chain, wakeTime)
        case .executor where object != 0: return actorWait(of: state)
        default: return (.executor, fullPool)
        }
    }

    private func continuationWait(
        of state: TaskDumpState, _ chain: Chain, _ wakeTime: Int64
    ) -> (TaskDump.Wait, [TaskDump.Node]) {
        if let explanation = explanations[address(state.task)] {
            let targets = explanation.holders.compactMap { snapshot.number(of: $0) }.filter { $0 != state.number }
            return (.operation(explanation.text), targets.map { .task($0) })
        }
        if chain.sleeps {
            return (.sleep(remaining: wakeTime > 0 ? .nanoseconds(max(wakeTime - now, 0)) : nil), [])
        }
        return (chain.awaitsElement ? .element : .continuation, [])
    }

    // MARK: Actors and the pool

    private func actorWait(of state: TaskDumpState) -> (TaskDump.Wait, [TaskDump.Node]) {
        let actor = address(state.object)
        let isMain = state.object == taskDumpMainExecutor()
        let type = isMain ? "MainActor" : typeName(state.objectType)
        let thread = snapshot.threads.first { address($0.actor) == actor }
        let owner = actor == snapshot.callersActor ? snapshot.caller : thread.map { address($0.task) }
        if let owner {
            let holder = snapshot.number(of: owner)
            return (.actor(type: type, address: actor, holder: holder), holder.map { [.task($0)] } ?? [])
        }
        let wait = TaskDump.Wait.actor(type: type, address: actor, holder: nil)
        // Code outside of tasks can block the main thread.
        if isMain,
            let main = snapshot.threads.firstIndex(where: { $0.thread == taskDumpProcess() && $0.task == nil }),
            stacks[main].contains(where: { $0.owner == .program && $0.function != "main" })
        {
            return (wait, [.thread(Int(taskDumpProcess()))])
        }
        return (wait, fullPool)
    }

    /// The type of an actor, by its metadata, which is never freed.
    private func typeName(_ metadata: UnsafeRawPointer?) -> String {
        guard let metadata else { return "an executor" }
        return String(reflecting: unsafeBitCast(metadata, to: Any.Type.self))
    }
}

extension TaskDump.Candidate {
    /// Searches the memory of functions, and the objects to which it points, for the address of an object.
    ///
    /// - Parameter isSought: Receives an address, and a function that returns the first word there, which is the type of
    ///   an object; nil if there is no memory.
    package static func reference(
        in frames: [Frame], isSought: (_ address: UInt, _ type: () -> UInt?) -> Bool
    ) -> UInt? {
        let own = frames.filter { $0.owner == .package }.flatMap { Memory.copy($0.start, $0.end - $0.start) }
        for word in own where Memory.isPlausible(word) {
            if isSought(word, { Memory.copy(word, 8).first }) { return word }
        }
        // The objects of closures refer to others.
        for word in own where Memory.isPlausible(word) {
            for inner in Memory.copy(word, 96) where Memory.isPlausible(inner) {
                if isSought(inner, { Memory.copy(inner, 8).first }) { return inner }
            }
        }
        return nil
    }
}
