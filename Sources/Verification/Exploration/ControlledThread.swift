internal import CExploration
internal import Dispatch
internal import Glibc

/// A thread of a schedule. The thread runs only while it has the turn.
///
/// Jobs of tasks and timers are threads, too. A thread needs a thread of the system only from its first turn.
final class ControlledThread: @unchecked Sendable {
    // Only the thread that has the turn accesses this state. Passing the turn to another thread orders the accesses.

    /// The next step of a thread, which it takes when it gets the turn.
    enum Step {
        case start
        /// Reads or changes an atomic variable.
        case access(SharedObject, Access)
        /// Takes a lock. The step is possible only while no thread holds the lock.
        case acquire(SharedObject)
        /// Takes a mutex of the C library. The step is possible only while no thread holds the mutex.
        case mutex(UnsafeMutablePointer<pthread_mutex_t>)
        /// Waits until another thread sets `isNotified`, or until a point in time.
        case wait(SharedObject, until: Duration?)
        /// Fires a timer at a point in time.
        case fire(at: Duration)
        /// Does nothing that another thread can observe.
        case pause
        /// Lets the other threads run first.
        case yield
        /// Waits until no other thread can run.
        case quiet
    }

    enum Access: UInt8 {
        case load, store, update, read, write
    }

    let turnstile: Turnstile
    /// The number of the thread in its schedule, in the order of creation.
    let number: Int
    let name: String
    var body: (() -> Void)?
    var step = Step.start
    /// The locks that the thread holds, in the order in which it took them.
    var held: [SharedObject] = []
    /// The condition for which the thread waits. Set before the thread releases the lock.
    var condition: SharedObject?
    var isNotified = false
    var host: HostThread?
    /// The values of this thread for `pthread_setspecific`.
    var specifics: [UInt: UnsafeMutableRawPointer] = [:]
    /// The part of the memory that the thread has seen.
    var view = View()

    init(_ turnstile: Turnstile, number: Int, name: String, body: @escaping () -> Void) {
        self.turnstile = turnstile
        self.number = number
        self.name = name
        self.body = body
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The calling controlled thread; nil outside of explorations.
    static var current: ControlledThread? {
        guard let address = pthread_getspecific(key) else { return nil }
        // The address of a thread that its host retains while the address is set.
        return Unmanaged<ControlledThread>.fromOpaque(address).takeUnretainedValue()
    }

    fileprivate static func setCurrent(_ thread: ControlledThread?) {
        pthread_setspecific(key, thread.map { Unmanaged.passUnretained($0).toOpaque() })
    }
}

/// A thread of the system, which runs controlled threads one after the other.
///
/// The host waits for its turns at its own semaphore. Later schedules use it again.
final class HostThread: @unchecked Sendable {
    // `thread` is written before the semaphore is signalled, and read after the host has waited for that signal.
    private let semaphore = DispatchSemaphore(value: 0)
    private var thread: ControlledThread?
    /// The number by which the system knows the thread. The thread itself writes it, before its first turn.
    private(set) var identifier: CInt = 0

    /// The idle host threads of all explorations in the process.
    private static let idle = IdleHosts()

    /// Returns an idle host thread, or starts one.
    static func take() -> HostThread {
        if let host = idle.take() { return host }
        let host = HostThread()
        host.startThread()
        return host
    }

    /// Makes the host run a thread, or continue to run it, while the caller continues.
    func give(_ thread: ControlledThread) {
        self.thread = thread
        semaphore.signal()
    }

    /// Blocks until the thread of this host has the turn again.
    func waitForTurn() {
        semaphore.wait()
    }

    private func startThread() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let opaque = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let error = pthread_create(&thread, &attributes, { HostThread.serve($0!) }, opaque)
        precondition(error == 0, "The system has no thread for the exploration (error \(error)).")
    }

    private static func serve(_ opaque: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        // Retained at the start of the thread, which never ends.
        let host = Unmanaged<HostThread>.fromOpaque(opaque).takeUnretainedValue()
        host.identifier = explorationThreadIdentifier()
        while true {
            host.semaphore.wait()
            var thread = host.thread
            while let current = thread { thread = host.run(current) }
        }
    }

    /// Runs a thread from its start to its end, and passes the turn. Returns the next thread if it starts on this host.
    private func run(_ thread: ControlledThread) -> ControlledThread? {
        ControlledThread.setCurrent(thread)
        thread.body!()
        thread.body = nil
        ControlledThread.setCurrent(nil)
        thread.host = nil
        let turnstile = thread.turnstile
        let next = turnstile.end(thread)
        if let next, next.host == nil {
            // The next thread starts on this host, so that the system need not switch threads.
            next.host = self
            return next
        }
        Self.idle.put(self)
        if let next { turnstile.passTurn(to: next) } else { turnstile.complete() }
        return nil
    }
}

/// The idle host threads.
private final class IdleHosts: @unchecked Sendable {
    // Every access to `hosts` holds `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var hosts: [HostThread] = []

    init() { pthread_mutex_init(mutex, nil) }

    func take() -> HostThread? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return hosts.popLast()
    }

    func put(_ host: HostThread) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        hosts.append(host)
    }
}
