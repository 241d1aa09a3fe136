internal import CTaskDump

extension TaskDump {
    /// Lists the living tasks.
    ///
    /// Can be called at any time, from any thread. The time is about 20 µs for each task. The first call that meets code
    /// with debug information can take seconds.
    ///
    /// - Parameter explainer: Describes waits of a library. TaskOperationsDiagnosis has `.operations`.
    public static func capture(explaining explainer: Explainer? = nil) -> TaskDump {
        let isListing = taskDumpBegin() != 0
        var reader = Reader()
        reader.readTasks()
        reader.readThreads()
        reader.findSymbols()
        reader.explain(explainer)
        let (tasks, threads) = (reader.entries, reader.threadEntries)
        return TaskDump(
            tasks: tasks, threads: threads,
            limitation: isListing ? nil : "Tasks are not listed: the layout of this runtime or system is not known.")
    }

    /// Lists the tasks that are created from now on.
    package static func begin() { _ = taskDumpBegin() }

    /// Only some tasks.
    package func filtered(_ isIncluded: (UInt64) -> Bool) -> TaskDump {
        TaskDump(tasks: tasks.filter { isIncluded($0.number) }, threads: threads, limitation: limitation)
    }

    private init(tasks: [Entry], threads: [ThreadEntry], limitation: String?) {
        (self.tasks, self.threads, self.limitation) = (tasks, threads, limitation)
        culprits = Graph(tasks, threads).culprits
    }
}

/// Reads tasks and threads, and translates addresses to numbers and functions.
private struct Reader {
    private var states: [TaskDumpState] = []
    /// The positions in `states`, by the address of the task.
    private var indices: [UInt: Int] = [:]
    /// The numbers of the tasks in `states`.
    private var numbers: Set<UInt64> = []
    private var births: [UInt64: TaskDumpBirth] = [:]
    private var names: [UInt64: String] = [:]
    private var threads: [TaskDumpThread] = []
    /// The threads by the address of the task that they run.
    private var threadsOfTasks: [UInt: Int] = [:]
    private var symbols = Symbols([])
    private var explanations: [UInt: TaskDump.Explanation] = [:]
    private let caller = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } }

    /// A group, and the task that created it: another group can have the same address later.
    private struct Group: Hashable {
        let owner: UInt64
        let address: UInt

        init(_ owner: UInt64, _ address: UInt) { (self.owner, self.address) = (owner, address) }
    }

    // MARK: Tasks

    mutating func readTasks() {
        var list: [TaskDumpBirth] = []
        while true {
            // Tasks are created meanwhile.
            let capacity = taskDumpList(nil, 0) + 1024
            var count = 0
            list = [TaskDumpBirth](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = taskDumpList(buffer.baseAddress, capacity)
                initialized = min(count, capacity)
            }
            if count <= capacity { break }
            taskDumpFreeNames(&list, list.count)
        }
        for birth in list {
            births[birth.number] = birth
            names[birth.number] = birth.name.map { String(cString: $0) }
        }
        taskDumpFreeNames(&list, list.count)
        read(list.map { (address($0.task), $0.number) })
        if let caller { read([(caller, 0)]) }
    }

    /// Reads tasks, and the tasks to which they refer.
    private mutating func read(_ tasks: [(address: UInt, number: UInt64)]) {
        var pending = tasks
        while let next = pending.popLast() {
            guard next.address != 0, indices[next.address] == nil,
                let (state, children) = Self.read(next.address, next.number)
            else { continue }
            indices[next.address] = states.count
            numbers.insert(state.number)
            states.append(state)
            pending += children.map { (address($0.task), $0.number) }
            if state.wait == .task { pending.append((address(state.object), state.objectNumber)) }
            if state.parent != nil { pending.append((address(state.parent), state.parentNumber)) }
        }
    }

    private static func read(_ task: UInt, _ number: UInt64) -> (TaskDumpState, [TaskDumpChild])? {
        let capacity = 256
        var (state, count, isRead) = (TaskDumpState(), 0, false)
        let children = [TaskDumpChild](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            isRead =
                taskDumpRead(
                    UnsafeRawPointer(bitPattern: task)!, number, &state, buffer.baseAddress!, &count, capacity) != 0
            initialized = isRead ? count : 0
        }
        return isRead ? (state, children) : nil
    }

    private func number(of task: UInt) -> UInt64? { indices[task].map { states[$0].number } }

    // MARK: Threads

    mutating func readThreads() {
        let running = states.filter { $0.status == .running }.map(\.task)
        let capacity = 2048
        threads = [TaskDumpThread](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = taskDumpThreads(buffer.baseAddress!, capacity, running, running.count)
        }
        read(threads.map { (address($0.task), 0) })
        for (index, thread) in threads.enumerated() where thread.task != nil {
            threadsOfTasks[address(thread.task)] = index
        }
    }

    // MARK: Functions

    mutating func findSymbols() {
        var addresses: Set<UInt> = []
        for state in states { addresses.formUnion(words(of: state.functions) + words(of: state.starts)) }
        for birth in births.values { addresses.formUnion(calls(words(of: birth.callers))) }
        for thread in threads { addresses.formUnion(stack(of: thread)) }
        symbols = Symbols(addresses)
    }

    /// The positions of calls, whose return addresses can belong to the next line.
    private func calls(_ addresses: [UInt]) -> [UInt] { addresses.map { $0 - 1 } }

    private func stack(of thread: TaskDumpThread) -> [UInt] {
        let words = words(of: thread.frames)
        return words.prefix(1) + calls(Array(words.dropFirst()))
    }

    private func frames(_ addresses: [UInt]) -> [TaskDump.Frame] {
        addresses.compactMap { address in
            guard let symbol = symbols[address], !symbol.isThunk else { return nil }
            return TaskDump.Frame(function: symbol.function, place: symbol.place, owner: symbol.owner)
        }
    }

    private func stackFrames(of thread: TaskDumpThread) -> [TaskDump.Frame] {
        frames(stack(of: thread))
    }

    // MARK: Entries

    var threadEntries: [TaskDump.ThreadEntry] {
        threads.map { thread in
            let frames = stackFrames(of: thread)
            return TaskDump.ThreadEntry(
                number: Int(thread.thread), task: number(of: address(thread.task)),
                blockedIn: thread.isBlocked == 0 ? nil : blockingCall(frames, thread.call), frames: frames)
        }
    }

    /// The function of a library that the program called, and the kind of the system call.
    private func blockingCall(_ frames: [TaskDump.Frame], _ call: Int64) -> String {
        let kind = taskDumpCallName(call).map { String(cString: $0) }
        let own = frames.firstIndex { $0.owner == .program } ?? frames.count
        let library = frames[..<own].last?.function.drop { $0 == "_" }
        switch (library, kind) {
        case (let function?, let kind?): return "\(function) (\(kind))"
        case (let function?, nil): return String(function)
        case (nil, let kind?): return kind
        case (nil, nil): return "a call of the system"
        }
    }

    var entries: [TaskDump.Entry] {
        var children: [Group: [UInt64]] = [:]
        for state in states where state.group != nil {
            children[Group(state.parentNumber, address(state.group)), default: []].append(state.number)
        }
        let now = taskDumpNow()
        return states.map { entry(of: $0, children, now) }.sorted { $0.number < $1.number }
    }

    private func entry(of state: TaskDumpState, _ children: [Group: [UInt64]], _ now: Int64) -> TaskDump.Entry {
        let birth = births[state.number]
        let thread = threadsOfTasks[address(state.task)].map { threads[$0] }
        let isRunning = state.status == .running || state.status == .changing
        let starts = frames(words(of: state.starts))
        let chain = (starts.first { $0.owner == .program }.map { [$0] } ?? []) + frames(words(of: state.functions))
        let stack = isRunning ? thread.map { stackFrames(of: $0) } ?? chain : chain
        var entry = TaskDump.Entry(
            number: state.number, name: names[state.number], priority: TaskPriority(rawValue: state.priority),
            isCancelled: state.isCancelled != 0, creators: frames(birth.map { calls(words(of: $0.callers)) } ?? []),
            frames: stack, wait: .nothing, parent: numbers.contains(state.parentNumber) ? state.parentNumber : nil,
            isCaller: caller == address(state.task))
        (entry.wait, entry.targets) =
            isRunning ? runningWait(stack, thread) : wait(of: state, chain, children, birth?.wakeTime ?? 0, now)
        return entry
    }

    private func runningWait(_ frames: [TaskDump.Frame], _ thread: TaskDumpThread?) -> (TaskDump.Wait, [TaskDump.Node])
    {
        guard let thread, thread.isBlocked != 0 else { return (.nothing, []) }
        return (.thread(blockingCall(frames, thread.call)), [])
    }

    private func wait(
        of state: TaskDumpState, _ frames: [TaskDump.Frame], _ children: [Group: [UInt64]], _ wakeTime: Int64,
        _ now: Int64
    ) -> (TaskDump.Wait, [TaskDump.Node]) {
        let object = address(state.object)
        switch state.wait {
        case .task:
            // A task that ended meanwhile has made this one ready.
            let number = state.objectNumber
            return numbers.contains(number) ? (.task(number), [.task(number)]) : (.executor, [])
        case .group:
            let numbers = (children[Group(state.number, object)] ?? []).sorted()
            return (.children(numbers), numbers.map { .task($0) })
        case .continuation: return continuationWait(of: state, frames, wakeTime, now)
        case .executor where object != 0: return actorWait(of: state)
        default: return (.executor, blockedPool)
        }
    }

    private func continuationWait(
        of state: TaskDumpState, _ frames: [TaskDump.Frame], _ wakeTime: Int64, _ now: Int64
    ) -> (TaskDump.Wait, [TaskDump.Node]) {
        if let explanation = explanations[address(state.task)] {
            let targets = explanation.holders.compactMap { number(of: $0) }.filter { $0 != state.number }
            return (.operation(explanation.text), targets.map { .task($0) })
        }
        // The functions between the continuation and the program tell the kind of the wait.
        let own = frames.firstIndex { $0.owner == .program } ?? frames.count
        let inner = frames[..<own].map(\.function)
        if inner.contains(where: { $0.includes("sleep") }) || wakeTime > now && inner.isEmpty {
            return (.sleep(remaining: wakeTime > 0 ? .nanoseconds(max(wakeTime - now, 0)) : nil), [])
        }
        let isSequence = inner.contains { $0.includes("Stream") || $0.includes("Sequence") || $0.includes(".next(") }
        return (isSequence ? .element : .continuation, [])
    }

    // MARK: Actors and the pool

    private func actorWait(of state: TaskDumpState) -> (TaskDump.Wait, [TaskDump.Node]) {
        let actor = address(state.object)
        let isMain = state.object == taskDumpMainExecutor()
        let type = isMain ? "MainActor" : typeName(state.objectType)
        if let thread = threads.first(where: { address($0.actor) == actor }) {
            let holder = number(of: address(thread.task))
            return (.actor(type: type, address: actor, holder: holder), holder.map { [.task($0)] } ?? [])
        }
        let wait = TaskDump.Wait.actor(type: type, address: actor, holder: nil)
        // Code outside of tasks can block the main thread.
        if isMain, let main = threads.first(where: { $0.thread == taskDumpProcess() && $0.task == nil }) {
            let isBusy = stackFrames(of: main).contains { $0.owner == .program && $0.function != "main" }
            if isBusy { return (wait, [.thread(Int(main.thread))]) }
        }
        return (wait, blockedPool)
    }

    /// The type of an actor, by its metadata, which is never freed.
    private func typeName(_ metadata: UnsafeRawPointer?) -> String {
        guard let metadata else { return "an executor" }
        return String(reflecting: unsafeBitCast(metadata, to: Any.Type.self))
    }

    /// The tasks that block threads of the pool, if they leave no thread for others.
    private var blockedPool: [TaskDump.Node] {
        let blocked = threads.filter { $0.isBlocked != 0 && $0.task != nil }
        guard blocked.count >= Int(taskDumpProcessorCount()) else { return [] }
        return blocked.compactMap { number(of: address($0.task)) }.map { .task($0) }
    }

    // MARK: Explanations

    mutating func explain(_ explainer: TaskDump.Explainer?) {
        guard let explainer else { return }
        let candidates = states.compactMap { candidate($0) }
        for explanation in explainer.explain(candidates) { explanations[explanation.task] = explanation }
    }

    private func candidate(_ state: TaskDumpState) -> TaskDump.Candidate? {
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
}

extension TaskDump.Candidate {
    /// Searches the memory of functions, and the objects to which it points, for the address of an object.
    ///
    /// - Parameter isSought: Receives an address, and the first word there, which is the type of an object.
    package static func reference(
        in frames: [Frame], isSought: (_ address: UInt, _ type: UInt) -> Bool
    ) -> UInt? {
        let own = frames.filter { $0.owner == .package }.flatMap { Memory.copy($0.start, $0.end - $0.start) }
        for word in own where Memory.isPlausible(word) {
            guard let type = Memory.copy(word, 8).first else { continue }
            if isSought(word, type) { return word }
        }
        // The objects of closures refer to others.
        for word in own where Memory.isPlausible(word) {
            for inner in Memory.copy(word, 96) where Memory.isPlausible(inner) {
                if let type = Memory.copy(inner, 8).first, isSought(inner, type) { return inner }
            }
        }
        return nil
    }
}

/// Memory that may be gone.
private enum Memory {
    /// Whether a word can be the address of an object.
    static func isPlausible(_ word: UInt) -> Bool { word > 4096 && word % 8 == 0 }

    static func copy(_ address: UInt, _ count: UInt) -> [UInt] {
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return [] }
        let count = Int(count) / MemoryLayout<UInt>.stride
        return [UInt](unsafeUninitializedCapacity: count) { buffer, initialized in
            let isCopied = taskDumpCopy(pointer, buffer.baseAddress!, count * MemoryLayout<UInt>.stride) != 0
            initialized = isCopied ? count : 0
        }
    }
}

private func address(_ pointer: UnsafeRawPointer?) -> UInt { UInt(bitPattern: pointer) }

/// The addresses in a C array, up to the first null.
private func words<Array>(of array: Array) -> [UInt] {
    withUnsafeBytes(of: array) { bytes in bytes.bindMemory(to: UInt.self).prefix { $0 != 0 } + [] }
}

extension Symbol {
    /// Whether the compiler generated the function to call another one.
    fileprivate var isThunk: Bool {
        place == nil
            && (function.includes("thunk") || function.hasPrefix("partial apply")
                || function.hasPrefix("dispatch thunk"))
    }
}
