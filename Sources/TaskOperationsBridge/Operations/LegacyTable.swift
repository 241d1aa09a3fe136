internal import Foundation
@_spi(Lock) internal import TaskOperations

/// Which operations of Foundation and of ours stand for each other, as an operation of Foundation has no room for what
/// belongs to it here.
///
/// An operation of Foundation has one entry, its node, and an operation of ours that stands for one or looks like one
/// has another. None keeps what it names. What is found is returned from the lock: to let go of it may lead back here.
enum LegacyTable {
    /// What an operation of ours is to Foundation.
    private enum Appearance: Sendable {
        /// It stands for the operation of a node.
        case node(WeakReference<LegacyNode>)
        case face(WeakReference<OperationProxy>)

        var node: LegacyNode? { if case .node(let node) = self { node.object } else { nil } }
        var face: OperationProxy? { if case .face(let face) = self { face.object } else { nil } }
    }

    private struct State: Sendable {
        /// By the operation of Foundation. The identity tells a node that is being released from the one that has
        /// taken its place.
        var nodes: [ObjectIdentifier: (reference: WeakReference<LegacyNode>, identity: ObjectIdentifier)] = [:]
        /// By the operation of ours.
        var appearances: [ObjectIdentifier: Appearance] = [:]
    }

    private static let state = Lock(State())
}

// MARK: - Nodes

extension LegacyTable {
    static func knownNode(of legacy: Foundation.Operation) -> LegacyNode? {
        state.withLock { $0.nodes[ObjectIdentifier(legacy)]?.reference.object }
    }

    /// The node of an operation: the one that is there, or else the one that was made, which is noted then.
    static func node(of legacy: Foundation.Operation, orInsert made: LegacyNode) -> LegacyNode {
        state.withLock { state in
            if let node = state.nodes[ObjectIdentifier(legacy)]?.reference.object { return node }
            state.nodes[ObjectIdentifier(legacy)] = (WeakReference(made), ObjectIdentifier(made))
            return made
        }
    }

    static func insert(_ node: LegacyNode, for operation: AnyTaskOperation) {
        state.withLock { $0.appearances[ObjectIdentifier(operation)] = .node(WeakReference(node)) }
    }

    /// The node is being released. Another may have taken its place.
    static func remove(_ node: LegacyNode, for operation: ObjectIdentifier?) {
        state.withLock { state in
            let key = ObjectIdentifier(node.legacy)
            if state.nodes[key]?.identity == ObjectIdentifier(node) { state.nodes[key] = nil }
            guard let operation, case .node(let reference)? = state.appearances[operation] else { return }
            if reference.identity == ObjectIdentifier(node) { state.appearances[operation] = nil }
        }
    }

    /// The node that an operation of ours stands for.
    static func node(of operation: AnyTaskOperation) -> LegacyNode? {
        let node = state.withLock { $0.appearances[ObjectIdentifier(operation)]?.node }
        return node?.knownOperation === operation ? node : nil
    }
}

// MARK: - Faces

extension LegacyTable {
    /// The face of an operation: the one that is there, or else the one that was made, which is noted then.
    static func face(of operation: AnyTaskOperation, orInsert made: OperationProxy?) -> OperationProxy? {
        state.withLock { state in
            let appearance = state.appearances[ObjectIdentifier(operation)]
            if let face = appearance?.face { return face }
            if let made, appearance?.node == nil {
                state.appearances[ObjectIdentifier(operation)] = .face(WeakReference(made))
            }
            return made
        }
    }

    /// The face is being released. Another may have taken its place already.
    static func removeFace(_ face: OperationProxy, of operation: ObjectIdentifier) {
        state.withLock { state in
            guard case .face(let reference)? = state.appearances[operation] else { return }
            if reference.identity == ObjectIdentifier(face) { state.appearances[operation] = nil }
        }
    }
}
