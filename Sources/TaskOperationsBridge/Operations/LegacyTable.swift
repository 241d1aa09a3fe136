internal import Foundation
internal import Synchronization
internal import TaskOperations

/// Finds the node of a Foundation operation, and the node or the proxy of an operation of this library.
///
/// A table is needed because a Foundation operation has no field for its node. Entries are weak. A lookup returns the
/// found object from the locked section, because releasing the object may call this table.
enum LegacyTable {
    /// The node or the proxy of an operation of this library.
    private enum Counterpart: Sendable {
        case node(WeakReference<LegacyNode>)
        case proxy(WeakReference<OperationProxy>)

        var node: LegacyNode? { if case .node(let node) = self { node.object } else { nil } }
        var proxy: OperationProxy? { if case .proxy(let proxy) = self { proxy.object } else { nil } }
    }

    private struct State: Sendable {
        /// The nodes, by Foundation operation. The identity distinguishes a node that is being released from its
        /// replacement.
        var nodes: [ObjectIdentifier: (reference: WeakReference<LegacyNode>, identity: ObjectIdentifier)] = [:]
        /// The nodes and proxies, by operation of this library.
        var counterparts: [ObjectIdentifier: Counterpart] = [:]
    }

    private static let state = Lock(State())
}

// MARK: - Nodes

extension LegacyTable {
    static func knownNode(of legacy: Foundation.Operation) -> LegacyNode? {
        state.withLock { $0.nodes[ObjectIdentifier(legacy)]?.reference.object }
    }

    /// Returns the existing node of an operation. If there is none, inserts and returns `made`.
    static func node(of legacy: Foundation.Operation, orInsert made: LegacyNode) -> LegacyNode {
        state.withLock { state in
            if let node = state.nodes[ObjectIdentifier(legacy)]?.reference.object { return node }
            state.nodes[ObjectIdentifier(legacy)] = (WeakReference(made), ObjectIdentifier(made))
            return made
        }
    }

    static func insert(_ node: LegacyNode, for operation: AnyTaskOperation) {
        state.withLock { $0.counterparts[ObjectIdentifier(operation)] = .node(WeakReference(node)) }
    }

    /// Removes a node that is being released. Does nothing if another node has replaced it.
    static func remove(_ node: LegacyNode, for operation: ObjectIdentifier?) {
        state.withLock { state in
            let key = ObjectIdentifier(node.legacy)
            if state.nodes[key]?.identity == ObjectIdentifier(node) { state.nodes[key] = nil }
            guard let operation, case .node(let reference)? = state.counterparts[operation] else { return }
            if reference.identity == ObjectIdentifier(node) { state.counterparts[operation] = nil }
        }
    }

    /// Returns the node of an operation of this library; nil if the operation has no node.
    static func node(of operation: AnyTaskOperation) -> LegacyNode? {
        let node = state.withLock { $0.counterparts[ObjectIdentifier(operation)]?.node }
        return node?.knownOperation === operation ? node : nil
    }
}

// MARK: - Proxies

extension LegacyTable {
    /// Returns the existing proxy of an operation. If there is none, inserts and returns `made`.
    static func proxy(of operation: AnyTaskOperation, orInsert made: OperationProxy?) -> OperationProxy? {
        state.withLock { state in
            let counterpart = state.counterparts[ObjectIdentifier(operation)]
            if let proxy = counterpart?.proxy { return proxy }
            if let made, counterpart?.node == nil {
                state.counterparts[ObjectIdentifier(operation)] = .proxy(WeakReference(made))
            }
            return made
        }
    }

    /// Removes a proxy that is being released. Does nothing if another proxy has replaced it.
    static func removeProxy(_ proxy: OperationProxy, of operation: ObjectIdentifier) {
        state.withLock { state in
            guard case .proxy(let reference)? = state.counterparts[operation] else { return }
            if reference.identity == ObjectIdentifier(proxy) { state.counterparts[operation] = nil }
        }
    }
}
