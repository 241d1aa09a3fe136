import TaskOperations

/// Converts events to lines of a trace.
struct TraceWriter: ~Copyable, Sendable {
    /// A point on a lane where an operation started, continued or ended. An arrow connects two such points.
    struct Place: Sendable {
        let process: Int
        let thread: Int
        let time: Int
        let number: UInt64
        /// Whether this is the time at which the body continued after a wait.
        var isWait = false
    }

    private var file: TraceFile
    private let start = Moment.now
    private var queues: [TraceQueue] = []
    private var labels: [(label: QueueLabel, width: Int?)] = []
    /// The positions of queues in the list of queues, by their numbers.
    private var places: [Int: Int] = [:]
    /// The queue of the last event.
    private var lastPlace = (number: -1, place: 0)
    /// The last number of a process, a thread or an arrow. No two of them share a number.
    private var lastNumber = 0
    /// The points where the latest operations ended.
    private var ends = RecentOperations<Place>(count: 1 << 16)
    /// The points to which arrows lead from operations whose end was not reported yet. Each queue reports its own
    /// events. So the end of a dependency on another queue may be reported after the start of its dependent.
    private var arrowsDue = RecentOperations<[Place]>(count: 1 << 12)
    private(set) var eventCount = 0

    init(_ file: consuming TraceFile) {
        self.file = file
    }

    var error: TraceError? { file.error }

    var byteCount: Int { file.byteCount }

    mutating func flush() { file.flush() }

    mutating func finish() {
        let end = nanoseconds(.now)
        for queue in queues {
            for (number, started) in queue.started { addRest(number, started, queue, until: end) }
        }
        file.close()
    }

    /// Records an event of a known queue. If the queue is unknown, returns false and changes nothing.
    mutating func record(_ event: TaskOperationEvent) -> Bool {
        guard let place = place(of: event.queue.number) else { return false }
        record(event, at: place)
        return true
    }

    /// Records an event.
    ///
    /// - Parameter width: The width of the queue, if it is known.
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
        let time = nanoseconds(event.moment)
        // Removed from the array during the change, so that the change makes no copy.
        var queue = TraceQueue(process: 0)
        swap(&queue, &queues[place])
        record(event, at: time, &queue)
        count(&queue, at: time)
        swap(&queue, &queues[place])
    }

    private func nanoseconds(_ moment: Moment) -> Int {
        let (seconds, attoseconds) = (moment - start).components
        // An event that another thread timed before the start of the recorder counts as at the start.
        return max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }

    private mutating func record(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        switch event.kind {
        case .added: queue.waiting.add(event.operationNumber, at: time)
        case .ready: queue.waiting.setReady(event.operationNumber, at: time)
        case .started(let dependencies): begin(event, dependencies, at: time, &queue)
        case .waited(let other): resume(event, after: other, at: time, &queue)
        case .lent: lend(event, at: time, &queue)
        case .returned: takeBack(event, at: time, &queue)
        case .finished(let outcome): end(event, outcome, at: time, &queue)
        case .cancelled: addInstant("cancelled", event, at: time, queue.process)
        case .attempt: addInstant("attempt", event, at: time, queue.process)
        case .withdrawn: _ = queue.waiting.remove(event.operationNumber)
        default: break
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
        let place = Place(process: queue.process, thread: thread, time: time, number: event.operationNumber)
        for dependency in dependencies { addArrow(from: dependency, to: place) }
        queue.started[event.operationNumber] = TraceQueue.Started(
            added: times.added, ready: ready, begin: time, lane: lane)
        addWait(event, from: times.added, to: time, queue.process)
    }

    /// Records that the body has awaited another operation.
    private mutating func resume(
        _ event: TaskOperationEvent, after other: AnyTaskOperation, at time: Int, _ queue: inout TraceQueue
    ) {
        guard other.isFinished, let lane = queue.started[event.operationNumber]?.lane else { return }
        let (process, thread) = (queue.process, queue.threads[lane])
        addArrow(
            from: other,
            to: Place(process: process, thread: thread, time: time, number: event.operationNumber, isWait: true))
    }

    /// Adds an arrow from the end of an operation, now or when the end is reported.
    private mutating func addArrow(from operation: AnyTaskOperation, to place: Place) {
        if let end = ends[operation] {
            addArrow(newNumber(), from: end, to: place)
        } else {
            arrowsDue.insert((arrowsDue.remove(operation) ?? []) + [place], for: operation)
        }
    }

    private mutating func lend(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        guard var started = queue.started[event.operationNumber], let lane = started.lane else { return }
        started.hasParts = true
        addSlice(event, started, on: (queue.process, queue.threads[lane]), until: time, end: "lent")
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
        let dependents = arrowsDue.remove(event.operation) ?? []
        guard let started = queue.started.removeValue(forKey: number) else {
            // The operation was cancelled before its start.
            if let times = queue.waiting.remove(number) { addWait(event, from: times.added, to: time, queue.process) }
            return
        }
        // Without a permit the operation has no lane, and its last slice is already written.
        guard let lane = started.lane else { return }
        addSlice(event, started, on: (queue.process, queue.threads[lane]), until: time, end: outcome.end)
        queue.freeLane(lane)
        let place = Place(process: queue.process, thread: queue.threads[lane], time: time, number: number)
        ends.insert(place, for: event.operation)
        for dependent in dependents { addArrow(newNumber(), from: place, to: dependent) }
    }

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func newQueue(_ label: QueueLabel, _ width: Int?) -> Int {
        let queue = TraceQueue(process: newNumber())
        labels.append((label, width))
        addProcess(queue.process, label, width)
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

    /// Begins a new file, to which the names of queues and lanes are written again.
    private mutating func rotate() {
        file.rotate()
        for (queue, (label, width)) in zip(queues, labels) {
            addProcess(queue.process, label, width)
            for (lane, thread) in queue.threads.enumerated() { addThread(queue.process, thread, lane: lane) }
        }
    }
}

// MARK: - Lines

extension TraceWriter {
    /// Adds a line. `add` writes a JSON object without its closing brace.
    @inline(__always)
    mutating func addLine(_ add: (inout TraceBytes) -> Void) {
        eventCount += 1
        file.addLine { bytes in
            add(&bytes)
            bytes.add("}")
        }
    }
}
