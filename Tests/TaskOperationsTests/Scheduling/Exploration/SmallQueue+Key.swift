@testable import TaskOperations

extension SmallQueue {
    /// The part of the state that determines all possible futures, packed into few bits.
    ///
    /// For each line of the state, the key contains the number of entries of each operation, current or not. The tests
    /// of the lines show that the inner layout of a line does not affect its behaviour. The number of abandoned entries
    /// follows from the entries.
    struct Key: Hashable {
        private var words: [UInt64] = [0]
        private var used = 0

        fileprivate mutating func add(_ value: Int, bits: Int) {
            precondition(value >= 0 && value < 1 << bits, "\(value) does not fit into \(bits) bits")
            if used + bits > 64 {
                words.append(0)
                used = 0
            }
            words[words.count - 1] |= UInt64(value) << UInt64(used)
            used += bits
        }
    }

    var key: Key {
        var key = Key()
        key.add(state.isSuspended ? 1 : 0, bits: 1)
        key.add(state.isDraining ? 1 : 0, bits: 1)
        key.add(state.width.capacity, bits: 3)
        key.add(mediumCap, bits: 2)
        key.add([.open, .closing, .shut].firstIndex(of: state.admission.state)!, bits: 2)
        key.add(added, bits: 3)
        key.add(edgeChanges, bits: 3)
        key.add(waits, bits: 3)
        key.add(tokens, bits: 2)
        for operation in operations { add(operation, to: &key) }
        addEntries(to: &key)
        return key
    }

    private func add(_ operation: Operation, to key: inout Key) {
        key.add(operation.phase.rawValue, bits: 3)
        key.add(operation.dependencies.bits, bits: operations.count)
        key.add(operation.awaited.bits, bits: operations.count)
        key.add(operation.levelChanges, bits: 2)
        guard let slot = operation.slot else { return key.add(0, bits: 3) }
        let record = state.rows[slot]
        key.add(record.status.number, bits: 3)
        key.add(record.level == .medium ? 0 : 1, bits: 1)
        key.add(isDropped(operation) ? 1 : 0, bits: 1)
    }

    /// Adds the number of entries of each operation in each line, up to three. Entries of removed operations have no
    /// further effect and are left out.
    private func addEntries(to key: inout Key) {
        var counts = 0
        func count(_ arrival: UInt64, _ slot: Int, at position: Int) {
            guard state.rows.holds(slot), state.rows[slot].arrival == arrival else { return }
            let position = 2 * (state.rows[slot].element * 5 + position)
            if (counts >> position) & 3 < 3 { counts += 1 << position }
        }
        for (first, line) in [(0, state.selection.ready), (2, state.returning)] {
            for (entry, level) in line.entriesWithRemoved {
                count(entry.arrival, entry.slot, at: first + (level == .high ? 1 : 0))
            }
        }
        for entry in state.heldBack.entriesWithRemoved { count(entry.rank, entry.slot, at: 4) }
        key.add(counts, bits: 2 * 5 * operations.count)
    }
}

extension OperationStatus {
    /// The number of the status in a key, from 1. An operation that is not in the queue has 0.
    fileprivate var number: Int {
        switch self {
        case .waiting: 1
        case .ready: 2
        case .executing: 3
        case .lent: 4
        case .returning: 5
        }
    }
}
