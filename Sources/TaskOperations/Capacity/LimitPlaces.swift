import Synchronization

/// The places of an operation among the queued operations of limits that bound their number. The operation has its
/// places from its addition until it starts, ends or is withdrawn.
final class LimitPlaces: Sendable {
    /// The requests with a place. Empty after the places were given back.
    private let held: Lock<[LimitRequest]>

    /// Takes a place in each limit. If a limit has no room, takes none.
    ///
    /// - Throws: `TaskOperationError.limitFull`.
    init(_ requests: [LimitRequest], of operation: AnyTaskOperation) throws(TaskOperationError) {
        for (index, request) in requests.enumerated() where !request.addQueued() {
            for earlier in requests.prefix(index) { earlier.removeQueued() }
            throw .limitFull(
                OperationLabel(operation), semaphoreName: request.limit.name,
                key: request.key.map { "\($0.userValue)" })
        }
        held = Lock(requests)
    }

    /// Gives the places back, unless that was done before. Called with no lock held, because the requests may contain
    /// the last references to keys, which are user code.
    func giveBack() {
        let requests = held.withLock { held in
            defer { held = [] }
            return held
        }
        for request in requests { request.removeQueued() }
    }
}

extension LimitRequest {
    fileprivate func addQueued() -> Bool { limit.storage.withLock { $0.state.addQueued(for: key?.number) } }

    fileprivate func removeQueued() { limit.storage.withLock { $0.state.removeQueued(for: key?.number) } }
}

extension AnyTaskOperation {
    /// Takes places in the limits that bound their queued operations. If one has no room, ends the operation.
    func takePlaces(in limits: [LimitRequest]) {
        if !limits.contains(where: { $0.limit.boundsQueuedOperations }) { return }
        let places: LimitPlaces
        do {
            places = try LimitPlaces(limits.filter { $0.limit.boundsQueuedOperations }, of: self)
        } catch {
            endUnlessStarted(error, isCancellation: false)
            return
        }
        let isQueued = record.withLock { record in
            if record.phase == .finished { return false }
            record.madeLinks().places = places
            return true
        }
        // The body begins soon after the start, and before any code of the user.
        if !isQueued || !addStartHandler({ places.giveBack() }) { places.giveBack() }
    }
}
