import Dispatch
import Foundation

/// Returns an identity of the calling thread that is unique while the thread exists.
func currentThreadIdentity() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

/// Returns the calling thread's name as the system reports it.
func threadName() throws -> String {
    #if os(Linux)
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    #else
        var name = [CChar](repeating: 0, count: 64)
        pthread_getname_np(pthread_self(), &name, name.count)
        return String(cString: name)
    #endif
}

#if canImport(Glibc)
    /// Returns the size of the calling thread's stack in bytes as the system reports it.
    func currentStackSize() -> Int {
        typealias Read = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
        // Glibc declares the function only for GNU sources.
        let read = unsafeBitCast(dlsym(nil, "pthread_getattr_np"), to: Read.self)
        var (attributes, size) = (pthread_attr_t(), 0)
        _ = read(pthread_self(), &attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_getstacksize(&attributes, &size)
        return size
    }
#endif

/// Blocks the thread, as old code does.
func block(on semaphore: DispatchSemaphore) { semaphore.wait() }
