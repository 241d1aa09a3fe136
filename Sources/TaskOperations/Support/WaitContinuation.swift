// What a suspended task goes on with. It is kept in one place, behind a lock, and whoever resumes it takes it out of there
// under the lock: so it is resumed once. Debug builds check that. In release builds the checks would be a twentieth of an
// operation that is awaited on an idle queue.

#if DEBUG
    typealias WaitContinuation<Value> = CheckedContinuation<Value, Never>

    @inline(__always)
    func withWaitContinuation<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (WaitContinuation<Value>) -> Void
    ) async -> sending Value {
        await withCheckedContinuation(isolation: isolation, body)
    }
#else
    typealias WaitContinuation<Value> = UnsafeContinuation<Value, Never>

    @inline(__always)
    func withWaitContinuation<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (WaitContinuation<Value>) -> Void
    ) async -> sending Value {
        await withUnsafeContinuation(isolation: isolation, body)
    }
#endif
