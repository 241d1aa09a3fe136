// Code for all platforms with POSIX threads.

#if !os(Windows) && (!os(WASI) || _runtime(_multithreaded))
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Android)
        internal import Android
    #elseif canImport(WASILibc)
        internal import WASILibc
    #endif

    /// Yields the processor to another thread that is ready to run.
    func yieldThread() { sched_yield() }

    /// A number that identifies the calling thread; never 0.
    var currentThread: UInt { number(of: pthread_self()) }

    /// A thread-local address. The address is nil until the thread sets it.
    struct ThreadAddress: Sendable {
        private let key: pthread_key_t

        init() {
            var key = pthread_key_t()
            let error = pthread_key_create(&key, nil)
            precondition(error == 0, "no key for values of a thread is left")
            self.key = key
        }

        var value: UnsafeMutableRawPointer? {
            get { pthread_getspecific(key) }
            nonmutating set { pthread_setspecific(key, newValue) }
        }
    }
#endif
