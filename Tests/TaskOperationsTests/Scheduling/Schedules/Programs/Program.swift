import TaskOperationsTesting
import Testing

/// A small program with a fault of a public report, and its mended twin.
struct PlantedFault: Sendable, CustomTestStringConvertible {
    let name: String
    /// The address of the report.
    let report: String
    /// The faults of the environment without which no schedule shows the fault.
    let faults: ScheduleFaults
    /// Throws an error if the fault shows itself.
    let run: @Sendable (_ isMended: Bool) async throws -> Void

    init(
        _ name: String, _ report: String, faults: ScheduleFaults = [],
        _ run: @escaping @Sendable (_ isMended: Bool) async throws -> Void
    ) {
        (self.name, self.report, self.faults, self.run) = (name, report, faults, run)
    }

    var testDescription: String { name }

    static let all = shallow + deepPrograms
    static let shallow =
        actorPrograms + screenPrograms + streamPrograms + requestPrograms + queuePrograms + cancellationPrograms
        + timePrograms
}

func require(_ condition: Bool) throws {
    if !condition { throw Fault() }
}

/// A server, which answers after other tasks had a chance to run.
actor Server {
    private(set) var requests = 0

    func answer<Value: Sendable>(_ value: Value) -> Value {
        requests += 1
        return value
    }

    /// Answers as a request of the network does, which a cancellation ends.
    nonisolated func fetch<Value: Sendable>(_ value: Value) async throws -> Value {
        let answer = await answer(value)
        try Task.checkCancellation()
        return answer
    }
}

/// A continuation that notices when it is resumed twice, where a checked continuation would end the process.
actor Reply {
    private var continuation: CheckedContinuation<Int?, Never>?
    private var early: Int??
    private(set) var resumptions = 0

    func value() async -> Int? {
        if let early { return early }
        return await withCheckedContinuation { continuation = $0 }
    }

    func resume(_ value: Int?) {
        resumptions += 1
        guard resumptions == 1 else { return }
        early = .some(value)
        continuation?.resume(returning: value)
    }
}

/// A permit that one task at a time has.
actor OnePermit {
    private(set) var isFree = true
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if isFree { return isFree = false }
        await withCheckedContinuation { waiters.append($0) }
    }

    func give() {
        if waiters.isEmpty { isFree = true } else { waiters.removeFirst().resume() }
    }
}
