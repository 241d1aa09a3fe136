internal import Foundation
internal import TaskOperations

/// Which operations of Foundation and of ours stand for each other.
///
/// An operation of Foundation has no room for what belongs to it here. Entries are removed when either side has
/// ended or is released. Whatever is taken out of the table is returned from its lock, as freeing it may lead back
/// here.
enum LegacyTable {
    private struct End: Sendable {
        let operation: WeakReference<AnyTaskOperation>
        let owner: ObjectIdentifier
    }

    private struct State: Sendable {
        /// What runs an operation of Foundation on a queue of ours.
        var runners: [ObjectIdentifier: AnyTaskOperation] = [:]
        /// What ends when an operation of Foundation finishes.
        var ends: [ObjectIdentifier: End] = [:]
        /// The operation of Foundation behind a runner or an end.
        var originals: [ObjectIdentifier: Foundation.Operation] = [:]
        /// What an operation of ours looks like to Foundation.
        var faces: [ObjectIdentifier: WeakReference<OperationFace>] = [:]
    }

    private static let state = Lock(State())
}

// MARK: - Runners

extension LegacyTable {
    static func runner(of legacy: Foundation.Operation) -> AnyTaskOperation? {
        state.withLock { $0.runners[ObjectIdentifier(legacy)] }
    }

    /// Notes that an operation of ours runs one of Foundation. Returns false where another one does.
    static func insert(_ runner: AnyTaskOperation, running legacy: Foundation.Operation) -> Bool {
        state.withLock { state in
            if state.runners[ObjectIdentifier(legacy)] != nil { return false }
            state.runners[ObjectIdentifier(legacy)] = runner
            state.originals[ObjectIdentifier(runner)] = legacy
            return true
        }
    }

    static func removeRunner(of legacy: Foundation.Operation) {
        _ = state.withLock { state in
            let runner = state.runners.removeValue(forKey: ObjectIdentifier(legacy))
            return (runner, runner.map { state.originals.removeValue(forKey: ObjectIdentifier($0)) })
        }
    }

    static func original(of operation: AnyTaskOperation) -> Foundation.Operation? {
        state.withLock { $0.originals[ObjectIdentifier(operation)] }
    }
}

// MARK: - Ends

extension LegacyTable {
    /// Returns what ends when the operation finishes: what is there, or else what was made, which is noted then.
    static func end(
        of legacy: Foundation.Operation, orInsert made: AnyTaskOperation, owner: ObjectIdentifier
    ) -> AnyTaskOperation {
        state.withLock { state in
            if let operation = state.ends[ObjectIdentifier(legacy)]?.operation.object { return operation }
            state.ends[ObjectIdentifier(legacy)] = End(operation: WeakReference(made), owner: owner)
            state.originals[ObjectIdentifier(made)] = legacy
            return made
        }
    }

    static func end(of legacy: Foundation.Operation) -> AnyTaskOperation? {
        state.withLock { $0.ends[ObjectIdentifier(legacy)]?.operation.object }
    }

    /// What ended when the operation finished has ended or is being released. Another may have taken its place.
    static func removeEnd(of legacy: Foundation.Operation, madeAs made: ObjectIdentifier, owner: ObjectIdentifier) {
        _ = state.withLock { state in
            if state.ends[ObjectIdentifier(legacy)]?.owner == owner { state.ends[ObjectIdentifier(legacy)] = nil }
            return state.originals.removeValue(forKey: made)
        }
    }
}

// MARK: - Faces

extension LegacyTable {
    /// The face of an operation: what is there, or else what was made, which is noted then.
    static func face(of operation: AnyTaskOperation, orInsert made: OperationFace?) -> OperationFace? {
        state.withLock { state in
            if let face = state.faces[ObjectIdentifier(operation)]?.object { return face }
            if let made { state.faces[ObjectIdentifier(operation)] = WeakReference(made) }
            return made
        }
    }

    /// The face is being released. Another may have taken its place already.
    static func removeFace(of operation: ObjectIdentifier) {
        _ = state.withLock { state in
            let face = state.faces[operation]?.object
            if face == nil { state.faces[operation] = nil }
            return face
        }
    }
}
