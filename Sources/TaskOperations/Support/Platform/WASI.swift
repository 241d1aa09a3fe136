// WebAssembly without threads: one thread does everything, so a wait that another thread would have to end is an error.

#if os(WASI) && !_runtime(_multithreaded)
    internal import WASILibc

    /// The number of processors at work.
    let processorCount = 1

    func yieldThread() {}

    /// Writes text to standard error without buffering.
    package func writeToStandardError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// The identity of the calling thread; never 0.
    var currentThread: UInt { 1 }

    /// An address that each thread has for itself; nil at first.
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

    /// Starts no thread. Returns `EAGAIN` of WASI, a macro that is not imported.
    func startThread(stackSize: Int?, with pointer: UnsafeMutableRawPointer) -> Int32 { 6 }

    func nameThread(_ name: String) {}

    func withReleasePool(_ work: () -> Void) { work() }

    /// A lock on which no other thread can wait.
    final class SystemLock: Sendable {
        func lock() {}

        func unlock() {}

        func wait() { fatalError("The only thread would wait for ever.") }

        func wait(for limit: Duration) {}

        func wakeOne() {}

        func wakeAll() {}
    }
#endif
