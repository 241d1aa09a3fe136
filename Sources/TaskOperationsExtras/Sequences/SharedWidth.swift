import Synchronization
import TaskOperations

/// The width that a map shares with the maps within its calls.
///
/// A call that awaits a map does nothing else meanwhile. So the inner map always has one place, that of the call, and each
/// further call takes a place that is free. No map waits for a place, so maps cannot wait for each other. An inner map looks
/// for free places when one of its calls ends.
final class SharedWidth: Sendable {
    private struct State: Sendable {
        /// The largest width of the maps.
        var width: Int
        /// The number of calls, without the first call of each map.
        var taken = 0
    }

    @TaskLocal private static var inherited: SharedWidth?

    private let state: Lock<State>
    private let binding = TaskBinding()

    private init(_ width: Int) { state = Lock(State(width: width)) }

    /// Runs a map with a width. If the map is part of a call of another map, both share the larger one of their widths.
    static func during<Value>(
        _ width: Int, isolation: isolated (any Actor)? = #isolation, _ map: (SharedWidth) async -> Value
    ) async -> Value {
        if let inherited, inherited.binding.isCurrent($inherited) {
            inherited.state.withLock { $0.width = max($0.width, width) }
            return await map(inherited)
        }
        let shared = SharedWidth(width)
        return await shared.binding.during($inherited, shared) { await map(shared) }
    }

    /// Takes a place for a call that is not the only one of its map. Returns false if none is free.
    func take() -> Bool {
        state.withLock { state in
            if state.taken + 1 >= state.width { return false }
            state.taken += 1
            return true
        }
    }

    /// Gives back a place that `take` has taken.
    func giveBack() { state.withLock { $0.taken -= 1 } }
}
