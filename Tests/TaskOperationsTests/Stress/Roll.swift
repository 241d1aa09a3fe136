import TaskOperations

/// Counts how many times each of many operations ran and ended, and how many ran at once.
final class Roll: Sendable {
    private struct Counts: Sendable {
        var runs: [UInt8]
        var ends: [UInt8]
        var now = 0
        var most = 0
    }

    private let counts: Lock<Counts>

    init(_ operations: Int) {
        counts = Lock(
            Counts(
                runs: [UInt8](repeating: 0, count: operations), ends: [UInt8](repeating: 0, count: operations)))
    }

    /// Records that a body runs until `leave`.
    func enter(_ number: Int) {
        counts.withLock { counts in
            counts.runs[number] &+= 1
            counts.now += 1
            counts.most = max(counts.most, counts.now)
        }
    }

    func leave() {
        counts.withLock { $0.now -= 1 }
    }

    /// Records the call of a completion handler.
    func end(_ number: Int) {
        counts.withLock { $0.ends[number] &+= 1 }
    }

    func runs(of number: Int) -> Int { counts.withLock { Int($0.runs[number]) } }

    func ends(of number: Int) -> Int { counts.withLock { Int($0.ends[number]) } }

    /// The highest number of bodies that ran at once.
    var most: Int { counts.withLock { $0.most } }
}
