import Synchronization

// Streams, and the order of messages.

let streamPrograms = [
    PlantedFault(
        "a stream of a finished task is empty", "https://github.com/kean/Nuke/pull/916",
        { isMended in
            let task = ImageTask(isMended: isMended)
            Task { await task.finish() }
            var events: [String] = []
            for await event in task.events { events.append(event) }
            try require(events == ["finished"])
        }),
    PlantedFault(
        "a subscriber misses the first event", "https://github.com/AgentWorkforce/relay/pull/1268",
        { isMended in
            let channel = Channel()
            let events = isMended ? await channel.registeredEvents() : channel.events
            await channel.send("joined")
            await channel.finish()
            var received: [String] = []
            for await event in events { received.append(event) }
            try require(received == ["joined"])
        }),
    PlantedFault(
        "two consumers subscribe after the start", "https://github.com/harflabs/SwiftVLC/pull/52",
        { isMended in
            let player = Channel()
            let early = isMended ? [await player.registeredEvents(), await player.registeredEvents()] : []
            let counts = await withTaskGroup(of: Int.self) { group in
                for index in 0..<2 {
                    group.addTask {
                        let events = isMended ? early[index] : await player.registeredEvents()
                        return await events.reduce(0) { count, _ in count + 1 }
                    }
                }
                group.addTask {
                    await player.send("playing")
                    await player.finish()
                    return 1
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try require(counts == [1, 1, 1])
        }),
    PlantedFault(
        "a full buffer drops a frame", "https://github.com/meshtastic/Meshtastic-Apple/pull/2106",
        { isMended in
            let (frames, continuation) = AsyncStream.makeStream(
                of: Int.self, bufferingPolicy: isMended ? .unbounded : .bufferingNewest(2))
            let radio = Task {
                for frame in 0..<4 {
                    continuation.yield(frame)
                    await Task.yield()
                }
                continuation.finish()
            }
            let server = Server()
            var received: [Int] = []
            for await frame in frames { await received.append(server.answer(frame)) }
            await radio.value
            try require(received == [0, 1, 2, 3])
        }),
    PlantedFault(
        "messages of unstructured tasks arrive in another order",
        "https://github.com/swiftlang/swift-migration-guide/pull/69",
        { isMended in
            let printer = Printer()
            if isMended {
                let (lines, continuation) = AsyncStream.makeStream(of: Int.self)
                let consumer = Task { for await line in lines { await printer.print(line) } }
                for line in 0..<4 { continuation.yield(line) }
                continuation.finish()
                await consumer.value
            } else {
                let tasks = (0..<4).map { line in Task.detached { await printer.print(line) } }
                for task in tasks { await task.value }
            }
            try await require(printer.lines == [0, 1, 2, 3])
        }),
    PlantedFault(
        "a reply arrives before its listener", "https://github.com/supabase/supabase-swift/pull/855",
        { isMended in
            let connection = Channel()
            let early = isMended ? await connection.registeredEvents() : nil
            let reply = Task { () -> String? in
                let events = if let early { early } else { await connection.registeredEvents() }
                for await event in events { return event }
                return nil
            }
            await connection.send("reply")
            await connection.finish()
            try await require(reply.value == "reply")
        }),
]

/// Registers streams in a task of its own.
private actor ImageTask {
    private let isMended: Bool
    private var isFinished = false
    private var continuations: [AsyncStream<String>.Continuation] = []

    init(isMended: Bool) { self.isMended = isMended }

    nonisolated var events: AsyncStream<String> {
        AsyncStream { continuation in Task { await self.register(continuation) } }
    }

    private func register(_ continuation: AsyncStream<String>.Continuation) {
        guard isFinished else { return continuations.append(continuation) }
        if isMended { continuation.yield("finished") }
        continuation.finish()
    }

    func finish() {
        isFinished = true
        for continuation in continuations {
            continuation.yield("finished")
            continuation.finish()
        }
    }
}

private actor Channel {
    private var subscribers: [AsyncStream<String>.Continuation] = []
    private var isFinished = false

    /// Subscribes at some later time.
    nonisolated var events: AsyncStream<String> {
        AsyncStream { continuation in Task { await self.register(continuation) } }
    }

    func registeredEvents() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        register(continuation)
        return stream
    }

    private func register(_ continuation: AsyncStream<String>.Continuation) {
        if isFinished { continuation.finish() } else { subscribers.append(continuation) }
    }

    func send(_ event: String) { for subscriber in subscribers { subscriber.yield(event) } }

    func finish() {
        isFinished = true
        for subscriber in subscribers { subscriber.finish() }
    }
}

private actor Printer {
    private(set) var lines: [Int] = []

    func print(_ line: Int) { lines.append(line) }
}
