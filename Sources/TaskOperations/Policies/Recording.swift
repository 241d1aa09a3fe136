import Synchronization

// Recorders keep a record of 32 bytes for each change, which a queue writes under its lock. Everything else is made from
// the records by reading.

/// The records of a queue's present step, and the rings to which they are written at the end of the step.
final class QueueRecording: @unchecked Sendable {
    // Accessed only under the lock of the queue, except in `init` and `deinit`.

    private let queue: UInt64
    /// The first ring, apart from the others, which are rare: a reference of an array is counted at each use.
    private let ring: any ChangeRecorder
    private let otherRings: [any ChangeRecorder]
    /// The sum of the numbers of the rings' parts in which the queue was last described.
    @exclusivity(unchecked) private var describedPart: UInt64 = .max
    /// The records of the present step.
    private let records = UnsafeMutablePointer<ChangeRecord>.allocate(capacity: capacity)
    @exclusivity(unchecked) private var count = 0
    /// The names to which the values of records refer, by their index plus 1.
    @exclusivity(unchecked) private var names: [String] = []
    /// The number of the last change. Changes are numbered from 1 without gaps.
    @exclusivity(unchecked) private var lastNumber: UInt64
    /// See `ticks`; 0 before the first reading.
    @exclusivity(unchecked) private var stepTicks: UInt64 = 0
    /// The number of records that described something.
    @exclusivity(unchecked) private(set) var describedCount = 0

    private static var capacity: Int { 64 }

    /// - Parameter former: The recording that this one continues; nil if the queue was not recorded.
    init(queue: Int, _ rings: [any ChangeRecorder], continuing former: QueueRecording?) {
        self.queue = UInt64(queue)
        ring = rings[0]
        otherRings = Array(rings.dropFirst())
        lastNumber = former?.lastNumber ?? 0
    }

    deinit { records.deallocate() }

    var rings: [any ChangeRecorder] { [ring] + otherRings }

    /// The ticks of the present step, from its first change or from the first call. When the step finds an operation ready,
    /// they begin anew: another queue may have ended its last dependency since the step began.
    var ticks: UInt64 {
        if stepTicks == 0 { stepTicks = Ticks.now }
        return stepTicks
    }

    /// Appends the record of a change.
    ///
    /// - Parameter operation: The identity of the operation, and its detail.
    @inline(__always)
    func append(_ kind: ChangeRecord.Kind, _ operation: UInt64 = 0, arrival: UInt64 = 0, value: UInt64) {
        lastNumber += 1
        add(ChangeRecord(kind, number: lastNumber, operation: operation, arrival: arrival, value: value))
    }

    /// - Parameter ticks: The ticks of the addition if that was before the present step; otherwise 0.
    func appendArrival(of element: some QueueElement, _ newcomer: Newcomer, _ arrival: UInt64, at ticks: UInt64) {
        if newcomer.isReady, newcomer.hasLinks { stepTicks = 0 }
        append(
            .added, element.recordedIdentity | ChangeRecord.arrivalDetail(newcomer), arrival: arrival,
            value: ticks != 0 ? ticks : self.ticks)
    }

    /// Appends a record that describes the last change, or a present state.
    func describe(
        _ kind: ChangeRecord.Kind, _ operation: UInt64 = 0, arrival: UInt64 = 0, isPresent: Bool = true, value: UInt64
    ) {
        var record = ChangeRecord(kind, number: lastNumber, operation: operation, arrival: arrival, value: value)
        if isPresent { record.queue |= ChangeRecord.presentBit }
        describedCount += 1
        add(record)
    }

    func describe(
        _ kind: ChangeRecord.Kind, _ operation: UInt64 = 0, arrival: UInt64 = 0, isPresent: Bool = true,
        named name: String
    ) {
        // Without a flush between the two, which would remove the name.
        if count == Self.capacity { flush() }
        names.append(name)
        describe(kind, operation, arrival: arrival, isPresent: isPresent, value: UInt64(names.count))
    }

    @inline(__always)
    private func add(_ record: ChangeRecord) {
        if count == Self.capacity { flush() }
        records[count] = record
        count += 1
    }

    /// Writes the records to the rings, if there are any. Returns whether the queue must be described, because a ring has
    /// begun another part.
    @inline(__always)
    func write() -> Bool {
        if count == 0 {
            stepTicks = 0
            return false
        }
        flush()
        return describedPart != part
    }

    func flush() {
        let written = UnsafeBufferPointer(start: records, count: count)
        ring.append(written, naming: names, of: queue)
        if !otherRings.isEmpty { for ring in otherRings { ring.append(written, naming: names, of: queue) } }
        count = 0
        if !names.isEmpty { names = [] }
        stepTicks = 0
    }

    /// The number of records that the states of all queues may take together.
    var room: Int { rings.map(\.room).min()! }

    func noteTimeout() { for ring in rings { ring.noteTimeout() } }

    /// Numbers of parts only increase, and so does their sum.
    private var part: UInt64 {
        otherRings.isEmpty ? ring.part : otherRings.reduce(ring.part) { $0 &+ $1.part }
    }

    /// Notes that the queue is described. Called before that, because the description may begin another part, which must
    /// then be noticed.
    func noteDescription() { describedPart = part }

    func writes(toAnyOf rings: [any ChangeRecorder]) -> Bool {
        self.rings.contains { ring in rings.contains { $0 === ring } }
    }
}

// MARK: - Queues

extension Scheduler {
    /// Adds a recorder, which receives the present state first.
    package nonisolated func addRecorder(_ ring: any ChangeRecorder) {
        setRecorders { rings in rings.contains { $0 === ring } ? rings : rings + [ring] }
    }

    package nonisolated func removeRecorder(_ ring: any ChangeRecorder) {
        setRecorders { rings in rings.filter { $0 !== ring } }
    }

    private nonisolated func setRecorders(_ change: ([any ChangeRecorder]) -> [any ChangeRecorder]) {
        let former = withCore { core in
            let former = core.recording
            let rings = change(former?.rings ?? [])
            if rings.count == former?.rings.count ?? 0 { return former }
            former?.flush()
            core.recording =
                rings.isEmpty ? nil : QueueRecording(queue: identity.number, rings, continuing: former)
            core.state.changes.recording = core.recording
            inbox.setTimed(core.recording != nil)
            observationChanged(core)
            _ = writePresent(in: &core)
            return former
        }
        // A ring may be released with it, after unlocking.
        extendLifetime(former)
        describeQueuesIfDue()
    }

    /// Writes the records of operations that were added and wait to be inserted.
    package nonisolated func recordArrivals() {
        if !inbox.isEmpty { withCore { _ in } }
    }

    /// Records that a body begins to wait. Observers learn of waits when they are over.
    ///
    /// - Parameter target: The awaited operation; nil if the body awaits something else.
    nonisolated func recordWait(of operation: AnyTaskOperation, for target: AnyTaskOperation?) {
        ifObserved(operation) { core, slot in
            if core.state.finishing.contains(slot) { return }
            core.recording?.append(
                .waits, operation.recordedIdentity, arrival: core.state.number(of: slot),
                value: target?.recordedIdentity ?? 0)
        }
    }

    /// Describes the queue in the new part of a ring.
    @inline(never)
    nonisolated func describeStaleQueue(_ core: inout SchedulerCore) {
        guard let recording = core.recording else { return }
        recording.noteDescription()
        core.describeQueue(self, recording)
        recording.flush()
    }

    /// Writes the state of all queues to each recorder of this queue that has begun another part, once for the part. Called
    /// with no lock held.
    nonisolated func describeQueuesIfDue() {
        let due = withCore { core in core.recording?.rings.filter { $0.takeDuty() } ?? [] }
        if !due.isEmpty { AllQueues.writePresent(to: due) }
    }

    /// Writes the present state of the queue, up to a number of records. Returns how many were written.
    nonisolated func writePresent(in core: inout SchedulerCore, limit: Int? = nil) -> Int {
        guard let recording = core.recording else { return 0 }
        let first = recording.describedCount
        recording.noteDescription()
        core.describeQueue(self, recording)
        core.describeOperations(recording, until: first + (limit ?? recording.room))
        recording.flush()
        return recording.describedCount - first
    }
}

extension SchedulerCore {
    /// Describes the queue in records: its name, its width, and whether it is suspended.
    fileprivate func describeQueue(_ scheduler: Scheduler, _ recording: QueueRecording) {
        if let name = scheduler.identity.name { recording.describe(.name, named: name) }
        recording.describe(.width, value: UInt64(state.width.capacity))
        if state.isSuspended { recording.describe(.suspended, value: recording.ticks) }
    }

    /// Describes unfinished operations in records, until a number of records is reached. At most 1,000 operations that have
    /// not started are described, because a queue may have a million of them.
    fileprivate func describeOperations(_ recording: QueueRecording, until end: Int) {
        var rest = 1000
        for slot in state.rows.slots where !state.finishing.contains(slot) {
            if recording.describedCount >= end { return }
            let (row, arrival) = (state.rows[slot], state.number(of: slot))
            if row.worker == nil {
                if rest == 0 { continue }
                rest -= 1
            }
            let newcomer = Newcomer(level: row.level, isReady: row.status != .waiting, isBarrier: row.isBarrier)
            let identity = row.element.recordedIdentity
            recording.describe(
                .added, identity | ChangeRecord.arrivalDetail(newcomer), arrival: arrival, value: 0)
            row.element.describe(arrival, in: recording, isPresent: true)
            guard let worker = row.worker else { continue }
            recording.describe(.started, identity, arrival: arrival, value: worker.beginTicks)
            if row.status == .lent || row.status == .returning {
                recording.describe(.lent, identity, arrival: arrival, value: recording.ticks)
            }
            for target in row.element.record.withLock({ $0.awaitedIdentities }) {
                recording.describe(.waits, identity, arrival: arrival, value: target)
            }
        }
    }
}

// MARK: - Operations

extension QueueRecording {
    /// Appends the record of a change of an operation.
    @inline(__always)
    func append<Element: QueueElement>(
        _ kind: ChangeKind, _ element: Element, _ arrival: UInt64, other: Element?
    ) {
        var (kind, detail) = ChangeRecord.kind(of: kind, element)
        if kind == .ready { stepTicks = 0 }
        if kind == .waited { detail = ChangeRecord.waitDetail(other?.recordedIdentity ?? 0) }
        if kind == .finished, detail == ChangeRecord.End.timedOut.rawValue { noteTimeout() }
        append(kind, element.recordedIdentity | UInt64(detail) << 56, arrival: arrival, value: ticks)
    }
}

extension ChangeRecord {
    /// The detail of an addition: the level in the lower four bits, and a bit for each property.
    static func arrivalDetail(_ newcomer: Newcomer) -> UInt64 {
        let flags: UInt8 =
            (newcomer.isReady ? 0x80 : 0) | (newcomer.isBarrier ? 0x40 : 0) | (newcomer.isDelayed ? 0x20 : 0)
        return UInt64(newcomer.level.rawValue | flags) << 56
    }

    /// The kind and the detail of the record of a change.
    @inline(__always)
    static func kind(of change: ChangeKind, _ element: some QueueElement) -> (kind: Kind, detail: UInt8) {
        switch change {
        case .added: (.added, 0)
        case .ready: (.ready, 0)
        case .started: (.started, 0)
        case .lent: (.lent, 0)
        case .returned: (.returned, 0)
        case .cancelled: (.cancelled, 0)
        case .levelChanged(let level): (.level, level.rawValue)
        case .attempt(let number): (.attempt, UInt8(clamping: number))
        case .waited: (.waited, 0)
        case .finished: (.finished, element.recordedEnd.rawValue)
        }
    }
}

extension AnyTaskOperation {
    /// Describes the operation in records: its name, up to 64 dependencies, and its limits.
    func describe(_ arrival: UInt64, in recording: QueueRecording, isPresent: Bool = false) {
        if let name {
            recording.describe(.name, recordedIdentity, arrival: arrival, isPresent: isPresent, named: name)
        }
        let (dependencies, limits) = record.withLock { ($0.dependencyIdentities, $0.links?.limits ?? []) }
        for dependency in dependencies {
            recording.describe(.dependency, recordedIdentity, arrival: arrival, isPresent: isPresent, value: dependency)
        }
        for request in limits {
            recording.describe(
                .limit, recordedIdentity, arrival: arrival, isPresent: isPresent, named: request.limit.name ?? "")
        }
    }
}

extension OperationRecord {
    /// The identities of the first 64 dependencies.
    fileprivate var dependencyIdentities: [UInt64] {
        links?.dependencies.operations.prefix(64).map(\.recordedIdentity) ?? []
    }

    /// The identities of the operations that the body awaits; 0 for something else.
    fileprivate var awaitedIdentities: [UInt64] {
        links?.extras?.waits.all.filter(\.isSuspended).map { $0.targetOperation?.recordedIdentity ?? 0 } ?? []
    }
}

extension AnyTaskOperation: QueueElement {
    /// The address of the operation.
    @inline(__always)
    var recordedIdentity: UInt64 { UInt64(UInt(bitPattern: ObjectIdentifier(self))) }

    var recordedEnd: ChangeRecord.End {
        if !isFinished { return .withdrawn }
        guard case .failure(let error)? = finalOutcome?.result else { return .succeeded }
        if error is CancellationError { return isCancelled ? .cancelled : .failed }
        return switch error as? TaskOperationError {
        case .timedOut: .timedOut
        case .dependencyFailed: .dependencyFailed
        case .dropped: .dropped
        case .limitFull: .limitFull
        default: .failed
        }
    }
}
