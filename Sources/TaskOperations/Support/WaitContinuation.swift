// A continuation of a suspended task is kept in one place, behind a lock. The thread that resumes it takes it out of there
// under the lock: so it is resumed once. Debug builds check that. In release builds the checks would be a twentieth of an
// operation that is awaited on an idle queue.

#if DEBUG
    typealias WaitContinuation<Value> = CheckedContinuation<Value, Never>
#else
    typealias WaitContinuation<Value> = UnsafeContinuation<Value, Never>
#endif

/// Suspends the calling task until its continuation is resumed.
@inline(__always)
func withWaitContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (WaitContinuation<Value>) -> Void
) async -> sending Value {
    #if DEBUG
        await withCheckedContinuation(isolation: isolation, body)
    #else
        await withUnsafeContinuation(isolation: isolation, body)
    #endif
}
