import TaskOperations

/// Converts events to lines of a trace.
struct TraceWriter: ~Copyable, Sendable {
    /// A point on a lane where an operation started, continued or ended. An arrow connects two such points.
    struct Place: Sendable {
        let process: Int
        let thread: Int
        let time: Int
        let number: UInt64
        /// The file that contains the names of the process and the thread.
        let file: Int
        /// Whether this is the time at which the body continued after a wait.
        var isWait = false
    }

    private var file: TraceFile
    private let start = Moment.now
    /// The state of each queue that was not released. A place without a queue is nil.
    private var queues: [TraceQueue?] = []
    /// The positions of queues in the list of queues, by their numbers.
    private var places: [Int: Int] = [:]
    private var freePlaces: [Int] = []
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
    private var isFinished = false

    init(_ file: consuming TraceFile) {
        self.file = file
    }

    var error: TraceError? { file.error }

    var byteCount: Int { file.byteCount }

    var queueCount: Int { places.count }

    mutating func flush() { file.flush() }

    /// Writes the slices of executing operations, closes the file, and releases the state of all queues.
    mutating func finish() {
        let end = nanoseconds(.now)
        for case var queue? in queues {
            for (number, started) in queue.started where started.lane != nil {
                addName(of: &queue)
                let thread = thread(of: started.lane!, &queue)
                addRest(number, started, on: (queue.process, thread), until: end)
            }
        }
        file.close()
        isFinished = true
        (queues, places, freePlaces) = ([], [:], [])
        (ends, arrowsDue) = (RecentOperations(count: 0), RecentOperations(count: 0))
    }

    /// Records an event of a known queue. If the queue is unknown, returns false and changes nothing. Ignores events
    /// after the end.
    mutating func record(_ event: TaskOperationEvent) -> Bool {
        if isFinished { return true }
        guard let place = place(of: event.queue.number) else { return false }
        record(event, at: place)
        return true
    }

    /// Records an event.
    ///
    /// - Parameter width: The width of the queue, if it is known.
    mutating func record(_ event: TaskOperationEvent, width: Int?) {
        if isFinished { return }
        record(event, at: place(of: event.queue.number) ?? newQueue(event.queue, width))
    }

    /// Releases the state of a queue that has no further events.
    mutating func forget(_ number: Int) {
        guard let place = places.removeValue(forKey: number) else { return }
        if lastPlace.number == number { lastPlace = (-1, 0) }
        queues[place] = nil
        freePlaces.append(place)
    }

    private mutating func place(of number: Int) -> Int? {
        if lastPlace.number == number { return lastPlace.place }
        guard let place = places[number] else { return nil }
        lastPlace = (number, place)
        return place
    }

    private mutating func record(_ event: TaskOperationEvent, at place: Int) {
        if file.isFull { file.rotate() }
        let time = nanoseconds(event.moment)
        // Removed from the array during the change, so that the change makes no copy.
        guard var queue = queues[place].take() else { return }
        addName(of: &queue)
        record(event, at: time, &queue)
        count(&queue, at: time)
        queues[place] = queue
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
        let place = Place(
            process: queue.process, thread: thread, time: time, number: event.operationNumber, file: file.number)
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
        let thread = thread(of: lane, &queue)
        addArrow(
            from: other,
            to: Place(
                process: queue.process, thread: thread, time: time, number: event.operationNumber, file: file.number,
                isWait: true))
    }

    /// Adds an arrow from the end of an operation, now or when the end is reported.
    private mutating func addArrow(from operation: AnyTaskOperation, to place: Place) {
        if let end = ends[operation] {
            addArrow(from: end, to: place)
        } else {
            arrowsDue.update(operation, from: []) { $0.append(place) }
        }
    }

    /// Adds an arrow if the current file contains the names of both ends. Otherwise at least one of the two slices is
    /// in an earlier file.
    private mutating func addArrow(from end: Place, to start: Place) {
        if end.file == file.number, start.file == file.number { addArrow(newNumber(), from: end, to: start) }
    }

    private mutating func lend(_ event: TaskOperationEvent, at time: Int, _ queue: inout TraceQueue) {
        guard var started = queue.started[event.operationNumber], let lane = started.lane else { return }
        started.hasParts = true
        let thread = thread(of: lane, &queue)
        addSlice(event, started, on: (queue.process, thread), until: time, end: "lent")
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
        let thread = thread(of: lane, &queue)
        addSlice(event, started, on: (queue.process, thread), until: time, end: outcome.end)
        queue.freeLane(lane)
        let place = Place(process: queue.process, thread: thread, time: time, number: number, file: file.number)
        ends.insert(place, for: event.operation)
        for dependent in dependents { addArrow(from: place, to: dependent) }
    }

    private mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func newQueue(_ label: QueueLabel, _ width: Int?) -> Int {
        let queue = TraceQueue(process: newNumber(), label, width: width)
        let place = freePlaces.popLast() ?? queues.count
        if place == queues.count { queues.append(queue) } else { queues[place] = queue }
        places[label.number] = place
        return place
    }

    /// Writes the name of a queue if the current file does not contain it. A new file begins without names, because
    /// most queues may have no further events.
    private mutating func addName(of queue: inout TraceQueue) {
        if queue.file == file.number { return }
        queue.file = file.number
        addProcess(queue.process, queue.label, queue.width)
    }

    /// Returns the thread of a lane. Writes its name if the current file does not contain it.
    private mutating func thread(of lane: Int, _ queue: inout TraceQueue) -> Int {
        while queue.threads.count <= lane { queue.threads.append(TraceQueue.Thread(number: newNumber())) }
        let number = queue.threads[lane].number
        if queue.threads[lane].file != file.number {
            queue.threads[lane].file = file.number
            addThread(queue.process, number, lane: lane)
        }
        return number
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
