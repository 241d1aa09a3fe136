import TaskOperations

/// Makes lines of a trace from events.
struct TraceWriter: ~Copyable, Sendable {
    /// Where an operation ended, for arrows from it.
    private struct End: Sendable {
        let process: Int
        let thread: Int
        let time: Int
        let number: Int
    }

    private var file: TraceFile
    private let start = ContinuousClock.now
    private var queues: [TraceQueue] = []
    private var labels: [(label: QueueLabel, width: Int?)] = []
    /// The places of queues, by their numbers.
    private var places: [Int: Int] = [:]
    /// The queue of the last event.
    private var lastPlace = (number: -1, place: 0)
    /// The last number of a process, of a thread or of an arrow: no two are the same.
    private var lastNumber = 0
    /// The last operations that ended, in two halves of which the older is dropped.
    private var ends: [ObjectIdentifier: End] = [:]
    private var olderEnds: [ObjectIdentifier: End] = [:]
    private(set) var eventCount = 0

    private static var endLimit: Int { 1 << 15 }

    init(_ file: consuming TraceFile) {
        self.file = file
    }

    var error: TraceError? { file.error }

    var byteCount: Int { file.byteCount }

    mutating func flush() { file.flush() }

    mutating func finish() {
        for queue in queues {
            for (number, started) in queue.started { addRest(number, started, queue) }
        }
        file.close()
    }

    /// Records an event of a queue that is known. Returns false, and does nothing, if it is not.
    mutating func record(_ event: TaskOperationEvent) -> Bool {
        guard let place = place(of: event.queue.number) else { return false }
        record(event, at: place)
        return true
    }

    /// Records an event.
    ///
    /// - Parameter width: That of the queue, if it is known.
    mutating func record(_ event: TaskOperationEvent, width: Int?) {
        record(event, at: place(of: event.queue.number) ?? newQueue(event.queue, width))
    }

    private mutating func place(of number: Int) -> Int? {
        if lastPlace.number == number { return lastPlace.place }
        guard let place = places[number] else { return nil }
        lastPlace = (number, place)
        return place
    }

    private mutating func record(_ event: TaskOperationEvent, at place: Int) {
        if file.isFull { rotate() }
        let time = nanoseconds(event.instant)
        // Taken out, so that it is changed where it is.
        var queue = TraceQueue(process: 0)
        swap(&queue, &queues[place])
        record(event, at: time, &queue)
        count(&queue, at: time)
        swap(&queue, &queues[place])
    }

    private func nanoseconds(_ instant: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = start.duration(to: instant).components
        // What was stamped before the recorder began, by another thread, counts as the beginning.
        return max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }

    private mutating func record(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        switch event.kind {
        case .added: queue.waiting.add(event.operationNumber, at: time)
        case .ready: queue.waiting.setReady(event.operationNumber, at: time)
        case .started(let dependencies): begin(event, dependencies, at: time, &queue)
        case .lent: lend(event, at: time, &queue)
        case .returned: takeBack(event, at: time, &queue)
        case .finished(let outcome): end(event, outcome, at: time, &queue)
        case .cancelled: addInstant("cancelled", event, at: time, queue)
        case .attempt: addInstant("attempt", event, at: time, queue)
        case .withdrawn: _ = queue.waiting.remove(event.operationNumber)
        case .priorityChanged: break
        }
    }
}

// MARK: - Lives of operations

extension TraceWriter {
    private mutating func begin(
        _ event: TaskOperationEvent, _ dependencies: [AnyTaskOperation], at time: Int, _ queue: inout TraceQueue
    ) {
        let times = queue.waiting.remove(event.operationNumber) ?? (time, time)
        let ready = max(times.added, times.ready)
        let lane = queue.takeLane()
        let thread = thread(of: lane, &queue)
        var known: [(process: Int, number: Int)] = []
        for dependency in dependencies {
            guard let end = self.end(of: dependency) else { continue }
            known.append((end.process, end.number))
            addArrow(from: end, to: (queue.process, thread), at: time)
        }
        queue.started[event.operationNumber] = TraceQueue.Started(
            added: times.added, ready: ready, begin: time, lane: lane, dependencies: known)
        addWait(event, from: times.added, to: time, queue)
    }

    private mutating func lend(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        guard var started = queue.started[event.operationNumber], let lane = started.lane else { return }
        started.hasParts = true
        addSlice(event, started, queue.threads[lane], until: time, queue, outcome: nil)
        queue.freeLane(lane)
        started.lane = nil
        queue.started[event.operationNumber] = started
    }

    private mutating func takeBack(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        guard var started = queue.started[event.operationNumber], started.lane == nil else { return }
        let lane = queue.takeLane()
        _ = thread(of: lane, &queue)
        started.lane = lane
        started.begin = time
        queue.started[event.operationNumber] = started
    }

    private mutating func end(
        _ event: TaskOperationEvent, _ outcome: TaskOperationEvent.Outcome, at time: Int, _ queue: inout TraceQueue
    ) {
        let number = event.operationNumber
        guard let started = queue.started.removeValue(forKey: number) else {
            // It was cancelled before its start.
            if let times = queue.waiting.remove(number) { addWait(event, from: times.added, to: time, queue) }
            return
        }
        // Without its permit it had no lane, and its last part was written.
        guard let lane = started.lane else { return }
        addSlice(event, started, queue.threads[lane], until: time, queue, outcome: outcome)
        queue.freeLane(lane)
        if ends.count >= Self.endLimit {
            olderEnds = ends
            ends = [:]
        }
        ends[ObjectIdentifier(event.operation)] = End(
            process: queue.process, thread: queue.threads[lane], time: time, number: Int(number))
    }

    private func end(of operation: AnyTaskOperation) -> End? {
        let identity = ObjectIdentifier(operation)
        return ends[identity] ?? olderEnds[identity]
    }

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func newQueue(_ label: QueueLabel, _ width: Int?) -> Int {
        let queue = TraceQueue(process: newNumber())
        labels.append((label, width))
        addProcess(queue, label, width)
        places[label.number] = queues.count
        queues.append(queue)
        return queues.count - 1
    }

    private mutating func thread(of lane: Int, _ queue: inout TraceQueue) -> Int {
        while queue.threads.count <= lane {
            let thread = newNumber()
            addThread(queue.process, thread, lane: queue.threads.count)
            queue.threads.append(thread)
        }
        return queue.threads[lane]
    }

    /// The new file has the names of queues and lanes too.
    private mutating func rotate() {
        file.rotate()
        for (queue, (label, width)) in zip(queues, labels) {
            addProcess(queue, label, width)
            for (lane, thread) in queue.threads.enumerated() { addThread(queue.process, thread, lane: lane) }
        }
    }
}

// MARK: - Lines

extension TraceWriter {
    @inline(__always)
    private mutating func addLine(_ add: (inout TraceBytes) -> Void) {
        eventCount += 1
        file.addLine { bytes in
            add(&bytes)
            bytes.add("}")
        }
    }

    private mutating func addProcess(_ queue: TraceQueue, _ label: QueueLabel, _ width: Int?) {
        addLine { bytes in
            bytes.add("{\"ph\":\"M\",\"pid\":")
            bytes.add(queue.process)
            bytes.add(",\"name\":\"process_name\",\"args\":{\"name\":")
            bytes.addQuoted(label.name ?? "unnamed queue \(label.number)")
            if let width, width < .max {
                bytes.add(",\"width\":")
                bytes.add(width)
            }
            bytes.add("}")
        }
    }

    private mutating func addThread(_ process: Int, _ thread: Int, lane: Int) {
        addLine { bytes in
            bytes.add("{\"ph\":\"M\",\"pid\":")
            bytes.add(process)
            bytes.add(",\"tid\":")
            bytes.add(thread)
            bytes.add(",\"name\":\"thread_name\",\"args\":{\"name\":\"permit ")
            bytes.add(lane + 1)
            bytes.add("\"}")
        }
    }

    private mutating func addSlice(
        _ event: TaskOperationEvent, _ started: TraceQueue.Started, _ thread: Int, until end: Int,
        _ queue: borrowing TraceQueue, outcome: TaskOperationEvent.Outcome?
    ) {
        let process = queue.process
        addLine { bytes in
            bytes.add("{\"ph\":\"X\",\"pid\":")
            bytes.add(process)
            bytes.add(",\"tid\":")
            bytes.add(thread)
            bytes.add(",\"ts\":")
            bytes.addMicroseconds(started.begin)
            bytes.add(",\"dur\":")
            bytes.addMicroseconds(end - started.begin)
            bytes.add(",\"name\":")
            bytes.addName(event)
            bytes.add(",\"args\":{\"op\":")
            bytes.add(Int(event.operationNumber))
            bytes.add(",\"added\":")
            bytes.addMicroseconds(started.added)
            bytes.add(",\"ready\":")
            bytes.addMicroseconds(started.ready)
            bytes.addDependencies(started.dependencies)
            switch outcome {
            case .succeeded: break
            case .failed: bytes.add(",\"end\":\"failed\"")
            case .cancelled: bytes.add(",\"end\":\"cancelled\"")
            case nil: bytes.add(",\"end\":\"lent\"")
            }
            bytes.add("}")
        }
    }

    /// What executes when the recorder is finished has a slice up to then.
    private mutating func addRest(_ number: UInt64, _ started: TraceQueue.Started, _ queue: TraceQueue) {
        guard let lane = started.lane else { return }
        let end = max(started.begin, nanoseconds(.now))
        addLine { bytes in
            bytes.add("{\"ph\":\"X\",\"pid\":")
            bytes.add(queue.process)
            bytes.add(",\"tid\":")
            bytes.add(queue.threads[lane])
            bytes.add(",\"ts\":")
            bytes.addMicroseconds(started.begin)
            bytes.add(",\"dur\":")
            bytes.addMicroseconds(end - started.begin)
            bytes.add(",\"name\":\"#")
            bytes.add(Int(number))
            bytes.add("\",\"args\":{\"op\":")
            bytes.add(Int(number))
            bytes.add(",\"added\":")
            bytes.addMicroseconds(started.added)
            bytes.add(",\"ready\":")
            bytes.addMicroseconds(started.ready)
            bytes.addDependencies(started.dependencies)
            bytes.add(",\"end\":\"unfinished\"}")
        }
    }

    private mutating func addWait(
        _ event: TaskOperationEvent, from begin: Int, to end: Int, _ queue: borrowing TraceQueue
    ) {
        let process = queue.process
        for (phase, time) in [("b", begin), ("e", end)] as [(StaticString, Int)] {
            addLine { bytes in
                bytes.add("{\"ph\":\"")
                bytes.add(phase)
                bytes.add("\",\"cat\":\"wait\",\"pid\":")
                bytes.add(process)
                bytes.add(",\"ts\":")
                bytes.addMicroseconds(time)
                bytes.add(",\"id2\":{\"local\":\"")
                bytes.add(Int(event.operationNumber))
                bytes.add("\"},\"name\":")
                bytes.addName(event)
            }
        }
    }

    private mutating func addArrow(from end: End, to target: (process: Int, thread: Int), at time: Int) {
        let number = newNumber()
        // Within the slice that it leaves.
        let places: [(StaticString, Int, Int, Int)] = [
            ("s", end.process, end.thread, max(0, end.time - 1)), ("f", target.process, target.thread, time),
        ]
        for (phase, process, thread, time) in places {
            addLine { bytes in
                bytes.add("{\"ph\":\"")
                bytes.add(phase)
                bytes.add("\",\"cat\":\"dependency\",\"pid\":")
                bytes.add(process)
                bytes.add(",\"tid\":")
                bytes.add(thread)
                bytes.add(",\"ts\":")
                bytes.addMicroseconds(time)
                bytes.add(",\"id\":")
                bytes.add(number)
                bytes.add(",\"bp\":\"e\",\"name\":\"dependency\"")
            }
        }
    }

    private mutating func addInstant(
        _ name: StaticString, _ event: TaskOperationEvent, at time: Int, _ queue: borrowing TraceQueue
    ) {
        let process = queue.process
        addLine { bytes in
            bytes.add("{\"ph\":\"i\",\"s\":\"p\",\"pid\":")
            bytes.add(process)
            bytes.add(",\"ts\":")
            bytes.addMicroseconds(time)
            bytes.add(",\"name\":\"")
            bytes.add(name)
            bytes.add("\",\"args\":{\"op\":")
            bytes.add(Int(event.operationNumber))
            bytes.add("}")
        }
    }

    /// Says how many wait and execute, once a millisecond at most.
    private mutating func count(_ queue: inout TraceQueue, at time: Int) {
        if time < queue.lastCount &+ 1_000_000, queue.lastCount != .min { return }
        queue.lastCount = time
        let (process, waiting, executing) = (queue.process, queue.waiting.count, queue.started.count)
        addLine { bytes in
            bytes.add("{\"ph\":\"C\",\"pid\":")
            bytes.add(process)
            bytes.add(",\"ts\":")
            bytes.addMicroseconds(time)
            bytes.add(",\"name\":\"operations\",\"args\":{\"pending\":")
            bytes.add(waiting)
            bytes.add(",\"executing\":")
            bytes.add(executing)
            bytes.add("}")
        }
    }
}

extension TraceBytes {
    fileprivate mutating func addName(_ event: TaskOperationEvent) {
        if let name = event.operation.name { return addQuoted(name) }
        add("\"#")
        add(Int(event.operationNumber))
        add("\"")
    }

    fileprivate mutating func addDependencies(_ dependencies: [(process: Int, number: Int)]) {
        if dependencies.isEmpty { return }
        add(",\"deps\":[")
        for (index, dependency) in dependencies.enumerated() {
            if index > 0 { add(",") }
            add("[")
            add(dependency.process)
            add(",")
            add(dependency.number)
            add("]")
        }
        add("]")
    }
}
