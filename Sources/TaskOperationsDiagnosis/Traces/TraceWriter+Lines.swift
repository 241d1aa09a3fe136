import TaskOperations

// The lines of a trace. Each line is an event of the Trace Event Format.

extension TraceWriter {
    mutating func addProcess(_ process: Int, _ label: QueueLabel, _ width: Int?) {
        addLine { bytes in
            bytes.addHead("{\"ph\":\"M\",\"pid\":", process)
            bytes.add(",\"name\":\"process_name\",\"args\":{\"name\":")
            bytes.addQuoted(label.name ?? "unnamed queue \(label.number)")
            if let width, width < .max {
                bytes.add(",\"width\":")
                bytes.add(width)
            }
            bytes.add("}")
        }
    }

    mutating func addThread(_ process: Int, _ thread: Int, lane: Int) {
        addLine { bytes in
            bytes.addHead("{\"ph\":\"M\",\"pid\":", process, thread: thread)
            bytes.add(",\"name\":\"thread_name\",\"args\":{\"name\":\"permit ")
            bytes.add(lane + 1)
            bytes.add("\"}")
        }
    }

    mutating func addSlice(
        _ event: TaskOperationEvent, _ started: TraceQueue.Started, on place: (process: Int, thread: Int),
        until time: Int, end: StaticString?
    ) {
        addSlice(event.operationNumber, started, on: place, until: time, end: end) { $0.addName(event) }
    }

    /// Adds the slice of an operation that is still executing at the end of the recording.
    mutating func addRest(
        _ number: UInt64, _ started: TraceQueue.Started, on place: (process: Int, thread: Int), until time: Int
    ) {
        addSlice(number, started, on: place, until: max(started.begin, time), end: "unfinished") {
            $0.addName(number)
        }
    }

    @inline(__always)
    private mutating func addSlice(
        _ number: UInt64, _ started: TraceQueue.Started, on place: (process: Int, thread: Int), until time: Int,
        end: StaticString?, name: (inout TraceBytes) -> Void
    ) {
        addLine { bytes in
            bytes.addHead("{\"ph\":\"X\",\"pid\":", place.process, thread: place.thread, at: started.begin)
            bytes.add(",\"dur\":")
            bytes.addMicroseconds(time - started.begin)
            bytes.add(",\"name\":")
            name(&bytes)
            bytes.add(",\"args\":{\"op\":")
            bytes.add(Int(number))
            bytes.add(",\"added\":")
            bytes.addMicroseconds(started.added)
            bytes.add(",\"ready\":")
            bytes.addMicroseconds(started.ready)
            if let end {
                bytes.add(",\"end\":\"")
                bytes.add(end)
                bytes.add("\"")
            }
            bytes.add("}")
        }
    }

    mutating func addWait(_ event: TaskOperationEvent, from begin: Int, to end: Int, _ process: Int) {
        let ends: [(StaticString, Int)] = [
            ("{\"ph\":\"b\",\"cat\":\"wait\",\"pid\":", begin), ("{\"ph\":\"e\",\"cat\":\"wait\",\"pid\":", end),
        ]
        for (head, time) in ends {
            addLine { bytes in
                bytes.addHead(head, process, at: time)
                bytes.add(",\"id2\":{\"local\":\"")
                bytes.add(Int(event.operationNumber))
                bytes.add("\"},\"name\":")
                bytes.addName(event)
            }
        }
    }

    /// Adds an arrow from the end of an operation to the start of its dependent.
    mutating func addArrow(_ number: Int, from end: Place, to start: Place) {
        // The arrow must begin within the slice of the finished operation.
        let time = max(0, end.time - 1)
        let name: StaticString = start.isWait ? "wait" : "dependency"
        addArrowEnd("{\"ph\":\"s\",\"pid\":", name, number, end, at: time) { _ in }
        addArrowEnd("{\"ph\":\"f\",\"pid\":", name, number, start, at: start.time) { bytes in
            bytes.add(",\"args\":{\"op\":")
            bytes.add(Int(start.number))
            bytes.add(",\"after\":[")
            bytes.add(end.process)
            bytes.add(",")
            bytes.add(Int(end.number))
            bytes.add("]}")
        }
    }

    private mutating func addArrowEnd(
        _ head: StaticString, _ name: StaticString, _ number: Int, _ place: Place, at time: Int,
        _ addArguments: (inout TraceBytes) -> Void
    ) {
        addLine { bytes in
            bytes.addHead(head, place.process, thread: place.thread, at: time)
            bytes.add(",\"id\":")
            bytes.add(number)
            bytes.add(",\"bp\":\"e\",\"cat\":\"")
            bytes.add(name)
            bytes.add("\",\"name\":\"")
            bytes.add(name)
            bytes.add("\"")
            addArguments(&bytes)
        }
    }

    mutating func addInstant(_ name: StaticString, _ event: TaskOperationEvent, at time: Int, _ process: Int) {
        addLine { bytes in
            bytes.addHead("{\"ph\":\"i\",\"s\":\"p\",\"pid\":", process, at: time)
            bytes.add(",\"name\":\"")
            bytes.add(name)
            bytes.add("\",\"args\":{\"op\":")
            bytes.add(Int(event.operationNumber))
            bytes.add("}")
        }
    }

    /// Adds the numbers of waiting and executing operations. Adds them at most once in a millisecond.
    mutating func count(_ queue: inout TraceQueue, at time: Int) {
        if time < queue.lastCount &+ 1_000_000, queue.lastCount != .min { return }
        queue.lastCount = time
        let (process, waiting, executing) = (queue.process, queue.waiting.count, queue.started.count)
        addLine { bytes in
            bytes.addHead("{\"ph\":\"C\",\"pid\":", process, at: time)
            bytes.add(",\"name\":\"operations\",\"args\":{\"queued\":")
            bytes.add(waiting)
            bytes.add(",\"executing\":")
            bytes.add(executing)
            bytes.add("}")
        }
    }
}

extension TaskOperationEvent.Outcome {
    /// The name of the outcome in a trace; nil if the operation succeeded.
    var end: StaticString? {
        switch self {
        case .succeeded: nil
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

extension TraceBytes {
    /// Appends the beginning of an event, with its process, thread and time.
    ///
    /// - Parameter start: The text before the number of the process.
    @inline(__always)
    fileprivate mutating func addHead(
        _ start: StaticString, _ process: Int, thread: Int? = nil, at time: Int? = nil
    ) {
        add(start)
        add(process)
        if let thread {
            add(",\"tid\":")
            add(thread)
        }
        if let time {
            add(",\"ts\":")
            addMicroseconds(time)
        }
    }

    fileprivate mutating func addName(_ event: TaskOperationEvent) {
        if let name = event.operation.name { addQuoted(name) } else { addName(event.operationNumber) }
    }

    /// Appends a name for an operation of which only the number is known.
    fileprivate mutating func addName(_ number: UInt64) {
        add("\"#")
        add(Int(number))
        add("\"")
    }
}
