// WebAssembly without threads. The only thread must never wait for another thread.

#if os(WASI) && !_runtime(_multithreaded)
    internal import WASILibc

    /// The number of active processors.
    let processorCount = 1

    func yieldThread() {}

    /// A number that identifies the calling thread; never 0.
    var currentThread: UInt { 1 }

    /// A thread-local address. The address is nil until the thread sets it.
    struct ThreadAddress: @unchecked Sendable {  // There is one thread.
        private let storage: UnsafeMutablePointer<UnsafeMutableRawPointer?>

        init() {
            storage = .allocate(capacity: 1)
            storage.initialize(to: nil)
        }

        var value: UnsafeMutableRawPointer? {
            get { storage.pointee }
            nonmutating set { storage.pointee = newValue }
        }
    }

    /// Starts no thread. Returns the value of `EAGAIN` on WASI. Swift cannot import this macro.
    func startThread(stackSize: Int?, with pointer: UnsafeMutableRawPointer) -> Int32 { 6 }

    func nameThread(_ name: String) {}

    func withReleasePool(_ work: () -> Void) { work() }

    /// A lock without effect, because there is only one thread.
    final class SystemLock: Sendable {
        func lock() {}

        func unlock() {}

        func wait() { fatalError("The only thread would wait for ever.") }

        func wait(for limit: Duration) {}

        func wakeOne() {}

        func wakeAll() {}
    }
#endif
