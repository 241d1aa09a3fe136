#if canImport(os)
    import Synchronization
    public import TaskOperations
    public import os

    /// Reports operations to Instruments: an interval for each execution, and an event for each other change.
    public final class SignpostObserver: TaskOperationObserver {
        private struct Key: Hashable {
            let queue: Int
            let number: UInt64
        }

        private struct Interval: @unchecked Sendable {
            // Only the thread that removes the interval from the table uses its state.
            let state: OSSignpostIntervalState
        }

        private let signposter: OSSignposter
        private let intervals = Lock<[Key: Interval]>([:])

        /// Creates an observer.
        ///
        /// - Parameter signposter: The receiver of the intervals and events.
        public init(_ signposter: OSSignposter) {
            self.signposter = signposter
        }

        public func operationChanged(_ event: TaskOperationEvent) {
            let key = Key(queue: event.queue.number, number: event.operationNumber)
            let name = event.operation.name ?? "unnamed"
            switch event.kind {
            case .started:
                let state = signposter.beginInterval(
                    "operation", id: signposter.makeSignpostID(), "\(name) on \(event.queue.description)")
                let interval = Interval(state: state)
                intervals.withLock { $0[key] = interval }
            case .finished(let outcome):
                guard let interval = intervals.withLock({ $0.removeValue(forKey: key) }) else { return }
                signposter.endInterval("operation", interval.state, "\(outcome.description)")
            case .lent, .returned, .waited, .cancelled, .attempt:
                signposter.emitEvent("operation", "\(name) \(event.kind.description)")
            default: break
            }
        }
    }
#endif
