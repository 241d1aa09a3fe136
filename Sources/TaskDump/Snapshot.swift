internal import CTaskDump

/// The living tasks and the threads of the process, as numbers and addresses.
struct Snapshot {
    /// The facts of a task that are noted at its creation and at the start of a sleep.
    struct Birth {
        var name: String?
        /// The functions that created the task, innermost first.
        var callers: [UInt] = []
        /// The end of the latest sleep, in nanoseconds; 0 if there was none.
        var wakeTime: Int64 = 0
        /// Whether only the list of the runtime has the task.
        var isOfRuntime = false
    }

    private(set) var states: [TaskDumpState] = []
    private(set) var births: [UInt64: Birth] = [:]
    private(set) var threads: [TaskDumpThread] = []
    /// The address of the task that takes the dump; nil outside of tasks.
    let caller = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } }
    /// The address of the actor whose code takes the dump; 0 if it is none.
    let callersActor = address(taskDumpCurrentActor())
    /// The positions in `states`, by the address of the task.
    private var indices: [UInt: Int] = [:]
    /// The numbers of the tasks in `states`.
    private var numbers: Set<UInt64> = []
    /// The positions in `threads`, by the address of the task that the thread runs.
    private var threadsOfTasks: [UInt: Int] = [:]

    /// - Parameter isIncluded: Whether to read a listed task; nil to read all. The tasks to which these refer are read,
    ///   too.
    init(of isIncluded: ((UInt64) -> Bool)? = nil) {
        readTasks(isIncluded)
        readThreads()
    }

    func number(of task: UInt) -> UInt64? { indices[task].map { states[$0].number } }

    func contains(_ number: UInt64) -> Bool { numbers.contains(number) }

    /// The position in `threads` of the thread that runs a task.
    func indexOfThread(_ state: TaskDumpState) -> Int? { threadsOfTasks[address(state.task)] }

    /// The listed tasks. A task of the runtime's list may be listed twice, the second time without a birth.
    ///
    /// - Parameter isIncluded: Whether to return a task; nil to return all.
    static func list(
        _ isIncluded: ((UInt64) -> Bool)? = nil
    ) -> [(address: UInt, number: UInt64, birth: Birth)] {
        while true {
            // Tasks are created meanwhile.
            let capacity = taskDumpList(nil, 0) + 1024
            var count = 0
            var list = [TaskDumpBirth](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = taskDumpList(buffer.baseAddress, capacity)
                initialized = min(count, capacity)
            }
            defer { taskDumpFreeNames(&list, list.count) }
            if count > capacity { continue }
            return list.compactMap { task in
                if isIncluded?(task.number) == false { return nil }
                let birth = Birth(
                    name: task.name.map { String(cString: $0) }, callers: calls(words(of: task.callers)),
                    wakeTime: task.wakeTime, isOfRuntime: task.isOfRuntime != 0)
                return (address(task.task), task.number, birth)
            }
        }
    }

    private mutating func readTasks(_ isIncluded: ((UInt64) -> Bool)?) {
        let list = Self.list(isIncluded)
        births.reserveCapacity(list.count)
        for task in list where births[task.number] == nil { births[task.number] = task.birth }
        read(list.map { ($0.address, $0.number) })
        if let caller { read([(caller, 0)]) }
    }

    /// Removes the tasks of the runtime's list that have ended meanwhile. The list is copied once more, because the runtime
    /// has no search.
    private mutating func removeEndedTasksOfRuntime() {
        let living = Set(Self.list().map(\.number))
        states.removeAll { births[$0.number]?.isOfRuntime == true && !living.contains($0.number) }
        indices = Dictionary(uniqueKeysWithValues: states.indices.map { (address(states[$0].task), $0) })
        numbers = Set(states.map(\.number))
    }

    /// Reads tasks, and the tasks to which they refer.
    private mutating func read(_ tasks: [(address: UInt, number: UInt64)]) {
        var pending = tasks
        while let next = pending.popLast() {
            guard next.address != 0, indices[next.address] == nil,
                let (state, children) = Self.read(next.address, next.number)
            else { continue }
            // The memory of a task that ends meanwhile has any content.
            if let birth = births[state.number], !birth.isOfRuntime, taskDumpIsListed(state.task!, state.number) == 0 {
                continue
            }
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

    private mutating func readThreads() {
        let running = states.filter { $0.status == .running }.map(\.task)
        let awaited = Dictionary(
            states.filter { $0.wait == .executor && $0.object != nil }.map { ($0.object, $0.implementation) }
        ) { first, _ in first }
        let executors = awaited.map { TaskDumpExecutorReference(object: $0, implementation: $1) }
        let capacity = 2048
        threads = [TaskDumpThread](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = taskDumpThreads(
                buffer.baseAddress!, capacity, running, running.count, executors, executors.count)
        }
        read(threads.map { (address($0.task), 0) })
        if births.values.contains(where: \.isOfRuntime) { removeEndedTasksOfRuntime() }
        for (index, thread) in threads.enumerated() where thread.task != nil {
            threadsOfTasks[address(thread.task)] = index
        }
    }
}

// MARK: - Addresses

extension TaskDumpThread {
    /// The addresses of the functions, innermost first.
    var stack: [UInt] {
        let words = words(of: frames)
        return words.prefix(1) + calls(Array(words.dropFirst()))
    }
}

func address(_ pointer: UnsafeRawPointer?) -> UInt { UInt(bitPattern: pointer) }

/// The addresses in a C array, up to the first null.
func words<Array>(of array: Array) -> [UInt] {
    withUnsafeBytes(of: array) { bytes in bytes.bindMemory(to: UInt.self).prefix { $0 != 0 } + [] }
}

/// The positions of calls, whose return addresses can belong to the next line.
private func calls(_ addresses: [UInt]) -> [UInt] { addresses.map { $0 - 1 } }

/// Memory that may be gone.
enum Memory {
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
