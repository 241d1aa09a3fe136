import Synchronization
import TaskOperations

/// The inputs of a batch. Each input has a ticket, which is its number from 0.
final class Batch<Input: Sendable>: Sendable {
    private struct State: Sendable {
        /// The inputs by ticket, without those of callers that left before the start.
        var inputs: [Int: Input]
        var ticketCount = 1
        /// The number of callers that have not left.
        var count = 1
        var hasBegun = false
    }

    private let state: Lock<State>

    /// Creates a batch whose first input has the ticket 0.
    init(_ input: Input) {
        state = Lock(State(inputs: [0: input]))
    }

    /// Adds an input. Does nothing and returns nil if the batch has begun, is full, or has lost all callers.
    ///
    /// - Parameter maxCount: The maximum number of inputs.
    func add(_ input: Input, upTo maxCount: Int) -> (ticket: Int, isFull: Bool)? {
        state.withLock { state in
            if state.hasBegun || state.count == 0 || state.count >= maxCount { return nil }
            let ticket = state.ticketCount
            state.inputs[ticket] = input
            state.ticketCount += 1
            state.count += 1
            return (ticket, state.count == maxCount)
        }
    }

    /// Closes the batch. Returns its inputs and their tickets, in the order of the calls. A retry receives the same
    /// ones. Takes O(*n* log *n*) time for *n* inputs.
    ///
    /// - Throws: `CancellationError` if all callers have left. The last one is about to cancel the operation.
    func begin() throws(CancellationError) -> (inputs: [Input], tickets: [Int]) {
        let inputs = state.withLock { state in
            state.hasBegun = true
            return state.inputs
        }
        if inputs.isEmpty { throw CancellationError() }
        let tickets = inputs.keys.sorted()
        return (tickets.map { inputs[$0]! }, tickets)
    }

    /// Removes a caller, and its input if the batch has not begun. Returns whether it was the last caller.
    func leave(_ ticket: Int) -> Bool {
        // The input is released after unlocking.
        let (isLast, input) = state.withLock { state in
            state.count -= 1
            return (state.count == 0, state.hasBegun ? nil : state.inputs.removeValue(forKey: ticket))
        }
        extendLifetime(input)
        return isLast
    }
}
