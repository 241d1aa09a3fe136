internal import Glibc

/// Runs jobs of tasks on controlled threads: the jobs that a controlled thread enqueues on the global executor or the
/// main actor.
enum Jobs {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void
    private typealias MainExecutor = @convention(thin) () -> UnownedSerialExecutor
    private typealias MainExecutorHook = @convention(thin) (MainExecutor) -> UnownedSerialExecutor

    /// Installs the hooks, once.
    static let isInstalled: Bool = {
        guard let enqueueHook = hook("swift_task_enqueueGlobal_hook", EnqueueHook.self),
            // `swift_task_enqueueMainExecutor_hook` is not called for jobs of the main actor (Swift 6.3).
            let mainExecutorHook = hook("swift_task_getMainExecutor_hook", MainExecutorHook.self)
        else { return false }
        enqueueHook.pointee = { job, enqueue in
            guard let turnstile = ControlledThread.current?.turnstile else { return enqueue(job) }
            turnstile.addJob(task(of: job)) { job.runSynchronously(on: generic) }
        }
        mainExecutorHook.pointee = { original in
            ControlledThread.current == nil ? original() : ControlledMainExecutor.shared.asUnownedSerialExecutor()
        }
        return true
    }()

    private static func hook<Hook>(_ name: String, _ type: Hook.Type) -> UnsafeMutablePointer<Hook?>? {
        dlsym(dlopen(nil, RTLD_LAZY), name)?.assumingMemoryBound(to: Hook?.self)
    }

    /// The address of the task that a job continues.
    fileprivate static func task(of job: UnownedJob) -> UInt { unsafeBitCast(job, to: UInt.self) }

    /// The executor of jobs that are not isolated to an actor. Both of its words are 0.
    private static var generic: UnownedSerialExecutor {
        unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }
}

/// The executor of the main actor in a schedule. Its jobs run one at a time, in the order in which they were enqueued.
private final class ControlledMainExecutor: SerialExecutor {
    static let shared = ControlledMainExecutor()

    func enqueue(_ job: UnownedJob) {
        // A task that was left suspended by a schedule may continue after the schedule.
        guard let turnstile = ControlledThread.current?.turnstile else { return MainActor.shared.enqueue(job) }
        turnstile.addMainJob(Jobs.task(of: job)) { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

extension ControlledSystem {
    /// Replaces `Task.yield()`, which does not call the hook (Swift 6.3).
    public static func yieldTask() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            guard let turnstile = ControlledThread.current?.turnstile else { return continuation.resume() }
            turnstile.makeThread("yield") { continuation.resume() }
        }
    }
}
