#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Has the jobs of tasks run on controlled threads: those that a controlled thread gives to the global executor.
enum Jobs {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Installs the hook, once.
    static let isInstalled: Bool = {
        guard let address = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
        address.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, enqueue in
            guard let turnstile = ControlledThread.current?.turnstile else { return enqueue(job) }
            turnstile.addJob(unsafeBitCast(job, to: UInt.self)) { job.runSynchronously(on: generic) }
        }
        return true
    }()

    /// The executor of jobs that are isolated to no actor. Both of its words are 0.
    private static var generic: UnownedSerialExecutor {
        unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }
}

extension ControlledSystem {
    /// In place of `Task.yield()`, which passes the hook by (Swift 6.3).
    public static func yieldTask() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            guard let turnstile = ControlledThread.current?.turnstile else { return continuation.resume() }
            turnstile.makeThread("yield") { continuation.resume() }
        }
    }
}
